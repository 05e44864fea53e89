package arch

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
)

// impure are the packages that wait, do I/O, or draw by lot.
var impure = []string{
	"sync", "sync/atomic", "os", "net", "net/http", "log", "log/slog", "math/rand", "math/rand/v2", "crypto/rand",
}

// clocks are the functions that read the clock or wait for it.
var clocks = map[string][]string{
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"},
	Module: {"Now"},
}

// isPure reports whether f must have no effects.
func isPure(f source) bool {
	return !f.test && slices.ContainsFunc(pure, func(p string) bool { return under(f.dir, p) })
}

// checkPurity looks for goroutines, clocks and imports with effects.
func (c *checker) checkPurity(f source) {
	names := make(map[string]string) // what the file calls the packages with clocks
	for _, i := range f.imports {
		where := fmt.Sprintf("%s:%d", f.name, i.line)
		switch {
		case slices.Contains(impure, i.path):
			c.fault("%s imports %s, but %s is pure: leave it to the runtime, and pass in what comes of it", where, i.path, f.dir)
		case clocks[i.path] == nil:
		case i.name == ".":
			c.fault("%s imports all names of %s, among them those of clocks", where, i.path)
		case i.name != "":
			names[i.name] = i.path
		default:
			names[path.Base(i.path)] = i.path
		}
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		c.checkNode(f, n, names)
		return true
	})
}

func (c *checker) checkNode(f source, n ast.Node, names map[string]string) {
	switch n := n.(type) {
	case *ast.GoStmt:
		c.fault("%s starts a goroutine, but %s is pure: return an effect and let the runtime act", f.lines.Position(n.Pos()), f.dir)
	case *ast.SelectorExpr:
		x, ok := n.X.(*ast.Ident)
		if ok && slices.Contains(clocks[names[x.Name]], n.Sel.Name) {
			c.fault("%s uses %s.%s, but %s is pure: take the time as an argument", f.lines.Position(n.Pos()), x.Name, n.Sel.Name, f.dir)
		}
	}
}
