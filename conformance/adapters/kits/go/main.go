// The glue between session-conformance and a port. It needs no change: fill in port.go.
//
//	go build -o adapter . && session-conformance run stdio:./adapter
//	session-conformance run stdio:'./adapter --example'                  the worked example
//
// One request per line comes in, one answer per line goes out, until the input ends.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
)

// Operation answers one request. A *Refusal means that the log was refused; any other error is a crash.
type Operation func(Request) (map[string]any, error)

// Port is what the glue asks.
type Port struct {
	Implementation map[string]string
	Operations     map[string]Operation
}

// Request holds the members of a request as raw JSON, so that nothing is lost before the port has seen it.
type Request map[string]json.RawMessage

// Text gives the JSON text of a member, in whichever of its two spellings it came.
func (request Request) Text(name string) (json.RawMessage, error) {
	if raw, found := request[name]; found {
		return raw, nil
	}
	raw, found := request[name+"_text"]
	var text string
	if !found || json.Unmarshal(raw, &text) != nil {
		return nil, missing("the request needs " + name + " or " + name + "_text")
	}
	return json.RawMessage(text), nil
}

type missing string

func (what missing) Error() string { return string(what) }

// one gives an answer of one kind.
func one(kind string, value any) map[string]any { return map[string]any{kind: value} }

// answer gives exactly one of result, rejected, crashed, unsupported and error.
func answer(port Port, request Request) (told map[string]any) {
	var op, edition string
	json.Unmarshal(request["op"], &op)
	json.Unmarshal(request["edition"], &edition)
	if op == "hello" {
		if string(request["protocol"]) != "1" {
			return one("error", "this adapter speaks protocol 1")
		}
		capabilities := []string{} // not nil: nil would be written as null
		for name := range port.Operations {
			capabilities = append(capabilities, name)
		}
		sort.Strings(capabilities) // a map has no order
		return one("result", map[string]any{"protocol": 1, "implementation": port.Implementation,
			"capabilities": capabilities, "editions": []string{"v0"}})
	}
	operation, offered := port.Operations[op]
	if !offered || edition != "v0" {
		return one("unsupported", "operation "+op+" of edition "+edition)
	}
	defer func() { // a panic is a crash of the port and never a refusal
		if broken := recover(); broken != nil {
			told = one("crashed", fmt.Sprint("panic: ", broken))
		}
	}()
	result, err := operation(request)
	var refusal *Refusal
	var unreadable missing
	switch {
	case err == nil:
		return one("result", result)
	case errors.As(err, &refusal): // this type only: whatever else comes back is a crash, and must be
		return one("rejected", refusal)
	case errors.As(err, &unreadable):
		return one("error", err.Error())
	}
	return one("crashed", err.Error())
}

func main() {
	answers := os.Stdout
	os.Stdout = os.Stderr // whatever the port prints must not end up between the answers
	port := yourPort
	if len(os.Args) > 1 && os.Args[1] == "--example" {
		port = examplePort
	}
	input := bufio.NewReader(os.Stdin)
	for {
		line, end := input.ReadBytes('\n') // no Scanner: it stops at lines longer than 64 KiB
		if end != nil {
			return
		}
		var request Request
		told := one("error", "the request is no JSON object")
		if json.Unmarshal(line, &request) == nil && request != nil {
			told = answer(port, request)
		}
		told["id"] = request["id"]
		written, err := json.Marshal(told)
		if err != nil {
			written, _ = json.Marshal(map[string]any{"id": request["id"], "error": err.Error()})
		}
		answers.Write(append(written, '\n')) // a File holds nothing back, so there is nothing to flush
	}
}
