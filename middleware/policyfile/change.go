package policyfile

import (
	"reflect"

	"github.com/backstay-go/backstay"
)

// change is what another version of a file does to a target, or to the server.
type change struct {
	name string
	kind backstay.Kind
}

// changes returns what is not the same in both: the targets that were there
// before, those that came, and the server.
func changes(before, after *Policies) []change {
	var all []change
	for _, name := range before.Names() {
		switch t, ok := after.targets[name]; {
		case !ok:
			all = append(all, change{name, PolicyRemoved})
		case !reflect.DeepEqual(*before.targets[name].Target, *t.Target):
			all = append(all, change{name, PolicyChanged})
		}
	}
	for _, name := range after.Names() {
		if before.targets[name] == nil {
			all = append(all, change{name, PolicyAdded})
		}
	}
	return append(all, serverChanges(before, after)...)
}

func serverChanges(before, after *Policies) []change {
	was, had := before.LookupServer()
	is, has := after.LookupServer()
	switch {
	case had && !has:
		return []change{{was.Name, PolicyRemoved}}
	case has && !had:
		return []change{{is.Name, PolicyAdded}}
	case !reflect.DeepEqual(was, is):
		return []change{{is.Name, PolicyChanged}}
	default:
		return nil
	}
}
