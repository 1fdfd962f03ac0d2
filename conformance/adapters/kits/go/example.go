package main

// WORKED EXAMPLE, not your port: fold, messages and project, written from the pages of the specification.

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

var examplePort = Port{
	Implementation: map[string]string{"name": "worked example", "version": "1", "language": "Go"},
	Operations:     map[string]Operation{"fold": exampleFold, "messages": exampleMessages, "project": exampleProject},
}

// object is one level of JSON: absent and null differ, unknown members stay, values are kept as they were written.
type object map[string]json.RawMessage

type replacement struct {
	Seq          int   `json:"seq"`
	Start        int   `json:"start"`
	End          int   `json:"end"`
	ShadowedSeqs []int `json:"shadowedSeqs"`
}

func refuse(condition string) error { return &Refusal{Condition: condition} }

// refuseAt adds the index of the event to a refusal.
func refuseAt(err error, at int) error {
	if refusal, ok := err.(*Refusal); ok {
		refusal.At = &at
	}
	return err
}

// asObject gives nil for anything that is no object; null, too, would be read into a map without an error.
func asObject(raw json.RawMessage) object {
	var found object
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) || json.Unmarshal(raw, &found) != nil {
		return nil
	}
	return found
}

// asList gives nil for anything that is no list, and a list that is not nil for an empty one.
func asList(raw json.RawMessage) []json.RawMessage {
	var found []json.RawMessage
	if json.Unmarshal(raw, &found) != nil {
		return nil
	}
	return found
}

// asString gives "" for anything that is no text; no text that this file looks for is empty.
func asString(raw json.RawMessage) string {
	var found string
	json.Unmarshal(raw, &found)
	return found
}

// double reads a number; one that is too large is infinite, which is what ParseFloat gives beside its error.
func double(text string) float64 {
	value, _ := strconv.ParseFloat(text, 64)
	return value
}

// asSeq takes 1, 1.0 and 1e0 for the same seq. No int member could: encoding/json refuses 1.0 for one.
func asSeq(raw json.RawMessage) (int, bool) {
	if len(raw) == 0 || (raw[0] != '-' && (raw[0] < '0' || raw[0] > '9')) {
		return 0, false
	}
	value := double(string(raw))
	return int(value), value >= 0 && value <= 1<<53-1 && value == math.Trunc(value)
}

func exampleFold(request Request) (map[string]any, error) {
	text, err := request.Text("events")
	if err != nil {
		return nil, err
	}
	nodes, replacements, err := fold(asList(text))
	if err != nil {
		return nil, err
	}
	return map[string]any{"nodes": nodes, "replacements": replacements, "replaceGeneration": len(replacements)}, nil
}

func fold(events []json.RawMessage) ([]int, []replacement, error) {
	nodes, replacements := []int{}, []replacement{} // not nil: nil would be written as null
	for at, raw := range events {
		event := asObject(raw)
		joins, made, err := check(event, at, nodes, events)
		if err != nil {
			return nil, nil, refuseAt(err, at)
		}
		switch {
		case !joins: // log-only
		case made == nil:
			nodes = append(nodes, at)
		default:
			first := indexOf(nodes, made.Start)
			rest := nodes[first+len(made.ShadowedSeqs):]
			nodes = append(append(append([]int{}, nodes[:first]...), at), rest...)
			replacements = append(replacements, *made)
		}
	}
	return nodes, replacements, nil
}

func indexOf(nodes []int, seq int) int {
	for index, node := range nodes {
		if node == seq {
			return index
		}
	}
	return -1
}

// check tells whether the event joins the surface, and which replacement it makes; nil for an append.
func check(event object, seq int, nodes []int, events []json.RawMessage) (bool, *replacement, error) {
	if event == nil {
		return false, nil, refuse("event-shapeless")
	}
	if found, ok := asSeq(event["seq"]); !ok || found != seq {
		return false, nil, refuse("seq-not-contiguous")
	}
	kind := asString(event["type"])
	marker, marked := event["surfaceOp"] // the comma-ok form: null is there, too
	cited, cites := event["sourceEventSeqs"]
	if kind != "user/message" && kind != "assistant/message" && kind != "tool/result" {
		if marked {
			return false, nil, refuse("surface-op-forbidden")
		}
		if cites {
			return false, nil, refuse("sources-forbidden")
		}
		return false, nil, nil
	}
	if !marked {
		return false, nil, refuse("surface-op-missing")
	}
	var made *replacement
	shadowed := []int{}
	if asString(marker) != "append" {
		var err error
		if made, err = readReplace(asObject(marker), seq, nodes); err != nil {
			return false, nil, err
		}
		shadowed = made.ShadowedSeqs
	}
	sources := map[int]bool{}
	if cites {
		if err := readSources(cited, kind, seq, sources); err != nil {
			return false, nil, err
		}
	}
	for _, node := range shadowed {
		if !sources[node] {
			return false, nil, refuse("sources-incomplete")
		}
	}
	if made != nil && kind == "tool/result" {
		if len(shadowed) != 1 {
			return false, nil, refuse("tool-result-span")
		}
		if err := checkRewrite(asObject(events[shadowed[0]]), event); err != nil {
			return false, nil, err
		}
	}
	return true, made, nil
}

func readReplace(marker object, seq int, nodes []int) (*replacement, error) {
	if marker == nil {
		return nil, refuse("surface-op-invalid")
	}
	start, startIsSeq := asSeq(marker["start"])
	end, endIsSeq := asSeq(marker["end"])
	if len(marker) != 3 || asString(marker["op"]) != "replace" || !startIsSeq || !endIsSeq {
		return nil, refuse("replace-op-invalid")
	}
	first, last := indexOf(nodes, start), indexOf(nodes, end)
	switch {
	case first < 0:
		return nil, refuse("replace-start-absent")
	case last < 0:
		return nil, refuse("replace-end-absent")
	case first > last:
		return nil, refuse("replace-reversed")
	}
	shadowed := append([]int{}, nodes[first:last+1]...)
	return &replacement{Seq: seq, Start: start, End: end, ShadowedSeqs: shadowed}, nil
}

// readSources does each check over the whole list before the next begins.
func readSources(raw json.RawMessage, kind string, seq int, sources map[int]bool) error {
	list := asList(raw)
	if list == nil {
		return refuse("sources-not-array")
	}
	if len(list) == 0 && kind != "assistant/message" {
		return refuse("sources-empty")
	}
	late := false
	for _, member := range list {
		source, ok := asSeq(member)
		if !ok {
			return refuse("source-not-seq")
		}
		sources[source] = true
		late = late || source >= seq
	}
	if len(sources) != len(list) {
		return refuse("sources-duplicate")
	}
	if late {
		return refuse("source-not-earlier")
	}
	return nil
}

func checkRewrite(target, event object) error {
	if asString(target["type"]) != "tool/result" {
		return refuse("tool-result-target")
	}
	before, err := withoutContent(target)
	if err != nil {
		return err
	}
	after, err := withoutContent(event)
	if err != nil {
		return err
	}
	if !same(before, after) {
		return refuse("tool-result-changed")
	}
	return nil
}

// withoutContent gives the data of a tool result with its first block only, and null for that block's content.
func withoutContent(event object) (any, error) {
	data, _ := tree(event["data"]).(map[string]any)
	message, _ := data["message"].(map[string]any)
	content, isList := message["content"].([]any)
	if !isList {
		return nil, refuse("event-shapeless")
	}
	first := map[string]any{}
	if len(content) > 0 {
		var isObject bool
		if first, isObject = content[0].(map[string]any); !isObject {
			return nil, refuse("event-shapeless")
		}
	}
	first["content"] = nil
	message["content"] = []any{first}
	return data, nil
}

// tree reads JSON as a whole, lone surrogates kept apart; numbers stay texts, as a float64 would refuse 1e400.
func tree(raw json.RawMessage) any {
	decoder := json.NewDecoder(bytes.NewReader(keepSurrogates(raw)))
	decoder.UseNumber()
	var value any
	decoder.Decode(&value)
	return value
}

// same tells whether two trees are equal as JSON; numbers are compared as doubles.
func same(a, b any) bool {
	switch left := a.(type) {
	case map[string]any:
		right, ok := b.(map[string]any)
		if !ok || len(left) != len(right) {
			return false
		}
		for name, value := range left {
			if other, found := right[name]; !found || !same(value, other) {
				return false
			}
		}
		return true
	case []any:
		right, ok := b.([]any)
		if !ok || len(left) != len(right) {
			return false
		}
		for index, value := range left {
			if !same(value, right[index]) {
				return false
			}
		}
		return true
	case json.Number:
		right, ok := b.(json.Number)
		return ok && double(left.String()) == double(right.String())
	}
	return a == b
}

// keepSurrogates puts \u0000 and four digits in the place of each escape of a lone surrogate, and of NUL itself.
// So every text stays distinct from every other, and encoding/json has no cause to write U+FFFD.
func keepSurrogates(raw []byte) []byte {
	var out []byte
	for at := 0; at < len(raw); {
		length := 1
		if raw[at] == '\\' {
			length = 2 // an escape of one character, or the head of \uXXXX
			code := escaped(raw[at:])
			switch {
			case 0xD800 <= code && code < 0xDC00 && escaped(raw[at+6:])&^0x3FF == 0xDC00:
				length = 12 // a pair
			case code == 0 || code&^0x7FF == 0xD800:
				out = append(out, `\u0000`...)
				out = append(out, bytes.ToLower(raw[at+2:at+6])...)
				at += 6
				continue
			}
		}
		out = append(out, raw[at:at+length]...)
		at += length
	}
	return out
}

// escaped gives the code unit of the escape \uXXXX that the text begins with, or -1.
func escaped(raw []byte) int {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return -1
	}
	code, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return int(code)
}

// project gives the raw text of the message, which is passed on as it was written, or nil for none.
func project(event object) (json.RawMessage, error) {
	if event == nil {
		return nil, refuse("event-shapeless")
	}
	kind := asString(event["type"])
	data := asObject(event["data"])
	message := asObject(data["message"])
	switch kind {
	case "user/message":
		if data == nil {
			return nil, refuse("event-shapeless")
		}
		return event["data"], nil
	case "assistant/message", "tool/result":
		content := asList(message["content"])
		if message == nil || (kind == "assistant/message" && content == nil) {
			return nil, refuse("event-shapeless")
		}
		if kind == "assistant/message" && len(content) == 0 {
			return nil, nil
		}
		return data["message"], nil
	}
	return nil, nil
}

func exampleProject(request Request) (map[string]any, error) {
	text, err := request.Text("event")
	if err != nil {
		return nil, err
	}
	message, err := project(asObject(text))
	if err != nil {
		return nil, err
	}
	if message == nil {
		return map[string]any{"message": nil}, nil
	}
	return map[string]any{"message_text": string(message)}, nil
}

func exampleMessages(request Request) (map[string]any, error) {
	text, err := request.Text("events")
	if err != nil {
		return nil, err
	}
	events := asList(text)
	nodes, _, err := fold(events)
	if err != nil {
		return nil, err
	}
	var found [][]byte
	for _, seq := range nodes {
		message, err := project(asObject(events[seq]))
		if err != nil {
			return nil, refuseAt(err, seq)
		}
		if message != nil {
			found = append(found, message)
		}
	}
	return map[string]any{"messages_text": "[" + string(bytes.Join(found, []byte(","))) + "]"}, nil
}
