package policyfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// maxFile is the largest file that is read, in bytes.
const maxFile = 1 << 20

// maxNodes is how many values are read, those that aliases and profiles bring
// counted each time: a short file can say a lot by them.
const maxNodes = 1 << 20

// reader reads one file, and collects what is wrong with it.
type reader struct {
	faults
	nodes int // how many values were read
}

// spend counts the values in n, and reports false once there are too many.
func (r *reader) spend(n *yaml.Node) bool {
	over := r.nodes > maxNodes
	r.nodes += len(n.Content)
	if !over && r.nodes > maxNodes {
		r.add(where(n, ""), "split it", "file has more than %d values, those of aliases and profiles counted each time", maxNodes)
	}
	return r.nodes <= maxNodes
}

// document returns the one document in data, nil if there is none to go on with.
func (r *reader) document(data []byte) *yaml.Node {
	if len(data) > maxFile {
		r.add(spot{}, "split it", "file is too long: must have at most %s", writeSize(maxFile))
		return nil
	}
	if strings.HasSuffix(strings.ToLower(r.file), ".json") && !r.isJSON(data) {
		return nil
	}
	var all []yaml.Node
	if err := yaml.Load(data, &all, yaml.WithAllDocuments()); err != nil {
		r.syntax(err)
		return nil
	}
	switch {
	case len(all) == 0 || len(all[0].Content) == 0:
		r.add(spot{line: 1, column: 1}, "write targets: and the names of what is called", "file is empty")
		return nil
	case len(all) > 1:
		r.add(where(&all[1], ""), "one file holds one document", "another document begins")
	}
	return all[0].Content[0]
}

// isJSON holds a file that is called .json to JSON, of which YAML is more.
func (r *reader) isJSON(data []byte) bool {
	err := json.Unmarshal(data, new(any))
	if err == nil {
		return true
	}
	at := spot{line: 1, column: 1}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		read := data[:max(0, min(e.Offset-1, int64(len(data))))]
		at.line += bytes.Count(read, []byte("\n"))
		at.column += utf8.RuneCount(read[bytes.LastIndexByte(read, '\n')+1:])
	}
	r.add(at, "", "not JSON: %v", err)
	return false
}

// syntax reports errors of the YAML parser.
func (r *reader) syntax(err error) {
	all := []*yaml.LoadError{}
	if many, ok := errors.AsType[*yaml.LoadErrors](err); ok {
		all = many.Errors
	} else if one, ok := errors.AsType[*yaml.LoadError](err); ok {
		all = append(all, one)
	}
	for _, e := range all {
		reason := e.Message
		if e.ContextMsg != "" {
			reason = e.ContextMsg + ", " + reason
		}
		hint := ""
		if strings.Contains(e.Message, "cannot start any token") {
			hint = "indent by spaces, not tabs, and quote what begins with % @ or `"
		}
		r.add(spot{line: e.Mark.Line, column: e.Mark.Column}, hint, "not YAML: %s", reason)
	}
	if len(all) == 0 {
		r.add(spot{}, "", "not YAML: %v", err)
	}
}

// where returns the spot of n.
func where(n *yaml.Node, path string) spot { return spot{line: n.Line, column: n.Column, path: path} }

// follow returns what an alias stands for.
func follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// entry is one key of a mapping.
type entry struct {
	name  string
	key   spot
	value *yaml.Node
}

// spot is where the entry's value stands.
func (e entry) spot() spot { return where(e.value, e.key.path) }

// entries returns what is in n, a mapping at path. Keys that come twice or are
// no names are faults.
func (r *reader) entries(n *yaml.Node, path string) []entry {
	n = follow(n)
	if n.Kind != yaml.MappingNode {
		r.add(where(n, path), "write names and values, such as {name: value}", "%s is not a mapping", describe(n))
		return nil
	}
	if !r.spend(n) {
		return nil
	}
	var all []entry
	seen := make(map[string]int)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := follow(n.Content[i])
		at := where(n.Content[i], path)
		at.path = at.under(key.Value)
		first, twice := seen[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode:
			r.add(where(key, path), "", "%s cannot be a key", describe(key))
		case key.Tag == "!!merge":
			r.add(at, "put what is shared into a profile, and write extends", "merge keys are not supported")
		case twice:
			r.add(at, "remove one of them", "key is there already, in line %d", first)
		default:
			seen[key.Value] = key.Line
			all = append(all, entry{name: key.Value, key: at, value: follow(n.Content[i+1])})
		}
	}
	return all
}

// items returns what is in n, a sequence, or n itself if it is none.
func (r *reader) items(n *yaml.Node) []*yaml.Node {
	n = follow(n)
	if n.Kind != yaml.SequenceNode {
		return []*yaml.Node{n}
	}
	if !r.spend(n) {
		return nil
	}
	all := make([]*yaml.Node, len(n.Content))
	for i, item := range n.Content {
		all[i] = follow(item)
	}
	return all
}

// scalar returns the text of n, if it is one that says something.
func scalar(n *yaml.Node) (text string, ok bool) {
	return n.Value, n.Kind == yaml.ScalarNode && n.Tag != "!!null"
}

// describe says what n is, in a few words.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		if n.Tag == "!!null" {
			return "nothing"
		}
		return quote(n.Value)
	default:
		return "this"
	}
}

// quote puts text that is no plain word into quotes, and shortens it.
func quote(text string) string {
	const most = 60
	if len(text) > most {
		cut := most
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "…"
	}
	b, _ := json.Marshal(text)
	if len(b) == len(text)+2 && text != "" && !strings.ContainsAny(text, " \t") {
		return text
	}
	return string(b)
}
