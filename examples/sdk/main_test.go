package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestTheStory(t *testing.T) {
	var out bytes.Buffer
	if err := tell(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"the SDK alone:            60 requests",
		"two layers that retry:   180 requests",
		"Backstay's layer alone:   10 requests",
		"put: done; success after 3 attempts",
		"as it is: bucket: 400 ThrottlingException; overload after 1 attempt, not_repeatable",
		"with retry.MarkRepeatable: done; success after 2 attempts",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the story lacks %q:\n%s", want, &out)
		}
	}
}
