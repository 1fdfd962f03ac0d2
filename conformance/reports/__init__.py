"""Reports for machines and pages, each made from a stored result stream and from nothing else."""
