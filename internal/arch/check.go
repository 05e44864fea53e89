package arch

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Check returns what in the module at the root of tree breaks the rules of
// rows, in words that say what to do about it.
func Check(tree fs.FS, rows []Package) (faults []string, err error) {
	files, err := load(tree)
	if err != nil {
		return nil, err
	}
	c := checker{rows: rows}
	placed := make(map[string]bool) // folders looked at
	for _, f := range files {
		if _, ok := placed[f.dir]; !ok {
			placed[f.dir] = c.place(f.dir)
		}
		c.checkName(f)
		if placed[f.dir] {
			c.checkImports(f)
		}
		if isPure(f) {
			c.checkPurity(f)
		}
	}
	return c.faults, nil
}

// checker collects faults.
type checker struct {
	rows   []Package
	faults []string
}

func (c *checker) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

// place reports whether the package in dir has a layer.
func (c *checker) place(dir string) bool {
	_, ok := find(c.rows, dir)
	if !ok {
		c.fault("%s is in no layer: decide what it may import, add it to Layers in internal/arch/layers.go, and record in docs/adr why it is there", dir)
	}
	return ok
}

// checkName refuses names that say nothing.
func (c *checker) checkName(f source) {
	name := strings.TrimSuffix(f.syntax.Name.Name, "_test")
	if slices.Contains(banned, name) || slices.Contains(banned, path.Base(f.dir)) {
		c.fault("%s: %q says nothing about what is in a package: name it after the concept", f.name, name)
	}
}

func (c *checker) checkImports(f source) {
	row, _ := find(c.rows, f.dir)
	for _, i := range f.imports {
		where := fmt.Sprintf("%s:%d", f.name, i.line)
		if dir, ours := local(i.path); ours {
			c.checkLocal(where, f, row, dir)
			continue
		}
		if standard(i.path) {
			c.checkTesting(where, f, i.path)
			continue
		}
		if !row.allows(i.path) && (!f.test || !under(i.path, rapid)) {
			c.fault("%s imports %s, which %s may not use: use what is allowed for it, or argue for it in docs/adr and add it to Layers in internal/arch/layers.go",
				where, i.path, f.dir)
		}
	}
}

// checkLocal judges the import of the package in dir by one of row.
func (c *checker) checkLocal(where string, f source, row Package, dir string) {
	target, known := find(c.rows, dir)
	switch {
	case row.Layer == top, dir == f.dir:
	case !known: // what has no layer is reported where it stands
	case serves(dir) && !f.test && !serves(f.dir):
		c.fault("%s imports %s, which is for tests alone", where, dir)
	case dir == testkit:
	case target.Layer > row.Layer:
		c.fault("%s imports %s of layer %d from layer %d: turn the dependency round, or move what is needed down", where, dir, target.Layer, row.Layer)
	case !row.mayImport(target):
		c.fault("%s imports %s: packages of layer %d do not import each other; what they share belongs in a lower one", where, dir, row.Layer)
	}
}

// checkTesting keeps the testing package out of programs.
func (c *checker) checkTesting(where string, f source, imported string) {
	if under(imported, "testing") && !f.test && !serves(f.dir) {
		c.fault("%s imports %s outside of a test: its flags would end up in programs; move it to a _test.go file, or to a package named like footest", where, imported)
	}
}

// mayImport reports whether the package may import target, which is not above
// it.
func (p Package) mayImport(target Package) bool {
	return target.Layer < p.Layer || target.Path == p.Path || target.Path == "."
}

// allows reports whether the package may use a third party.
func (p Package) allows(imported string) bool {
	return p.Layer == top || slices.ContainsFunc(p.ThirdParty, func(prefix string) bool { return under(imported, prefix) })
}

// local returns the folder of an import, if it is of this module.
func local(imported string) (dir string, ok bool) {
	if imported == Module {
		return ".", true
	}
	return strings.CutPrefix(imported, Module+"/")
}

// standard reports whether an import is of the standard library: the first
// element of its path is no domain.
func standard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

// under reports whether an import is prefix, or below it.
func under(imported, prefix string) bool {
	rest, ok := strings.CutPrefix(imported, prefix)
	return ok && (rest == "" || rest[0] == '/')
}
