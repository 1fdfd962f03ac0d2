package main

import "errors"

// YOUR PORT. Nothing is declared yet, so nothing is asked; take the operations that you have into Operations.
// example.go is a whole port in this form.
var yourPort = Port{
	Implementation: map[string]string{"name": "my port", "version": "0.0.0", "language": "Go"},
	Operations:     map[string]Operation{
		// Take the // off a line once its function is filled in.
		// "fold":     yourFold,
		// "messages": yourMessages,
	},
}

// Refusal is for a log that your port refuses, and for nothing else. Each member may be left out.
type Refusal struct {
	Condition string `json:"condition,omitempty"` // a name of the ledger
	At        *int   `json:"at,omitempty"`        // index of the event; a pointer, as 0 and none are different
	Message   string `json:"message,omitempty"`
}

func (refusal *Refusal) Error() string { return refusal.Condition + refusal.Message }

// yourFold gives nodes, replacements (each seq, start, end, shadowedSeqs) and replaceGeneration. Lists must not be
// nil, which is written as null. request.Text("events") is the JSON text of the log: give it to your own reader.
func yourFold(request Request) (map[string]any, error) {
	return nil, errors.New("fold is not implemented")
}

// yourMessages gives messages_text: the JSON text of the list of messages. Go strings hold UTF-8, and encoding/json
// puts U+FFFD in the place of a lone surrogate. So keep what is passed on as json.RawMessage and answer with that
// text; if your port has strings there, answer with what it makes of them: the case that fails is the truth.
func yourMessages(request Request) (map[string]any, error) {
	return nil, errors.New("messages is not implemented")
}
