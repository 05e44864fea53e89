package policyfile

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/backstay-go/backstay/middleware"
)

// object is a JSON object; encoding/json writes its keys in order.
type object = map[string]any

// Schema returns the JSON Schema (draft 2020-12) of a policy file, for editors:
// what may be written where, with defaults. It knows values and their bounds;
// what only shows between values [Parse] tells.
func Schema() []byte {
	profile := propertiesOf(root)
	delete(profile, "idempotent") // it is said of targets
	profile["extends"] = object{
		"type": "string", "default": standard,
		"description": "The profile that this one changes: one of the file's, or standard, internal, reads, none.",
	}
	target := maps.Clone(profile)
	target["match"] = matchSchema()
	target["idempotent"] = root.find("idempotent").schema()
	server := propertiesOf(serverRoot)
	server["extends"] = object{
		"enum": slices.Sorted(maps.Keys(serverPresets)), "default": standard,
		"description": "What the server changes: the standard one, or none.",
	}
	out, err := json.MarshalIndent(object{
		"$schema":              "https://json-schema.org/draft/2020-12/schema",
		"title":                "Backstay policy file",
		"type":                 "object",
		"additionalProperties": false,
		"anyOf":                []any{object{"required": []string{"targets"}}, object{"required": []string{"server"}}},
		"properties": object{
			"$schema":  object{"type": "string"},
			"version":  object{"const": 1},
			"profiles": named("profile", "Policies to extend, by name.", slices.Sorted(maps.Keys(presets))...),
			"targets":  named("target", "What is called, by name.", middleware.Unmatched),
			"server":   object{"$ref": "#/$defs/server", "description": "What stands in front of the handlers of a server."},
		},
		"$defs": object{
			"profile": definitionSchema(profile), "target": definitionSchema(target), "server": definitionSchema(server),
			"fault": object{
				"type": "object", "additionalProperties": false, "properties": propertiesOf(faultRoot),
				"required": requiredOf(faultRoot),
			},
		},
	}, "", "  ")
	if err != nil {
		panic(err) // it is made of strings and numbers
	}
	return append(out, '\n')
}

// named is the schema of a mapping of names to definitions, of which names
// some are taken.
func named(of, about string, taken ...string) object {
	names := object{"pattern": "^[A-Za-z0-9._/:-]+$", "maxLength": 200}
	if len(taken) > 0 {
		names["not"] = object{"enum": taken}
	}
	return object{
		"type": "object", "description": about,
		"propertyNames":        names,
		"additionalProperties": object{"$ref": "#/$defs/" + of},
	}
}

func definitionSchema(properties object) object {
	return object{"anyOf": []any{
		object{"const": "on"},
		object{"type": "object", "additionalProperties": false, "properties": properties},
	}}
}

// propertiesOf returns the schemas of what is in s.
func propertiesOf(s *shape) object {
	all := object{}
	for _, f := range s.fields {
		all[f.name] = f.schema()
	}
	return all
}

// requiredOf returns the names of what must be in s.
func requiredOf(s *shape) []string {
	var all []string
	for _, f := range s.fields {
		if f.standard == required {
			all = append(all, f.name)
		}
	}
	return all
}

func (s *shape) schema() object {
	if s.kind != section {
		return s.valueSchema()
	}
	words := []string{"on"}
	if s.optional() {
		words = append(words, off)
	}
	forms := []object{
		{"enum": words},
		{"type": "object", "additionalProperties": false, "properties": propertiesOf(s)},
	}
	if s.short != "" {
		forms = append(forms, s.find(s.short).forms()...)
	}
	return object{"description": s.about, "anyOf": forms}
}

// valueSchema is the schema of one value.
func (s *shape) valueSchema() object {
	o := object{"description": s.about + " Default: " + s.standard + "."}
	if s.standard == required {
		o["description"] = s.about + " Required."
	}
	forms := s.forms()
	if names := s.words(); len(names) > 0 {
		forms = append(forms, object{"enum": names})
	}
	if len(forms) == 1 {
		maps.Copy(o, forms[0])
		return o
	}
	o["anyOf"] = forms
	return o
}

// forms returns the ways in which a value may be written.
func (s *shape) forms() []object {
	switch s.kind {
	case flag:
		return []object{{"type": "boolean"}}
	case text:
		return []object{s.textSchema()}
	case texts:
		return []object{s.textSchema(), {"type": "array", "items": s.textSchema()}}
	case moment:
		return []object{{"type": "string", "format": "date-time"}}
	case pairs:
		return []object{{"type": "object", "additionalProperties": object{"type": "string"}}}
	case faultList:
		return []object{{"type": "array", "items": object{"$ref": "#/$defs/fault"}}}
	case duration:
		forms := []object{{"type": "string", "pattern": `^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)([0-9.]+(ns|us|µs|μs|ms|s|m|h))*$`}}
		if s.admits(0) {
			forms = append(forms, object{"const": 0})
		}
		return forms
	case size:
		return []object{s.numeric("integer"), {"type": "string", "pattern": "^[0-9]+(\\.[0-9]+)? ?([KMG]iB|[kKMG]?B)$"}}
	case share:
		return []object{s.numeric("number"), {"type": "string", "pattern": `^\+?[0-9]+(\.[0-9]+)? ?%$`}}
	case count:
		return []object{s.numeric("integer")}
	default:
		return []object{s.numeric("number")}
	}
}

func (s *shape) textSchema() object {
	o := object{"type": "string", "minLength": 1}
	if s.choices != nil {
		o = object{"enum": s.choices}
	}
	return o
}

// numeric is the schema of a number within the bounds.
func (s *shape) numeric(kind string) object {
	o := object{"type": kind, "minimum": s.low}
	if s.above {
		delete(o, "minimum")
		o["exclusiveMinimum"] = s.low
	}
	switch {
	case s.high == many:
	case s.below:
		o["exclusiveMaximum"] = s.high
	default:
		o["maximum"] = s.high
	}
	return o
}

func matchSchema() object {
	one := object{"type": "object", "additionalProperties": false, "minProperties": 1, "properties": object{
		"host":  object{"type": "string", "description": "The host, with or without a port; *.example.com are all below, * are all."},
		"route": object{"type": "string", "pattern": "^/", "description": "Such as /v1/charges/{id}, or /static/{rest...}."},
		"grpc":  object{"type": "string", "description": "A service, or service/method."},
		"method": object{"description": "HTTP methods. Default: all.", "anyOf": []any{
			object{"type": "string"}, object{"type": "array", "items": object{"type": "string"}, "minItems": 1},
		}},
	}}
	return object{
		"description": "Which requests the target is for; the most specific match counts.",
		"anyOf":       []any{one, object{"type": "array", "items": one}},
	}
}
