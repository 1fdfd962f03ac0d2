module conformance-kit

go 1.19
