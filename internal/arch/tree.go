package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// source is one Go file.
type source struct {
	name    string // with its folder
	dir     string // the folder: "." is the root
	test    bool
	imports []imported
	syntax  *ast.File
	lines   *token.FileSet
}

// imported is one import.
type imported struct {
	path string
	name string // what the file calls it, if that is not the package's own name
	line int
}

// load parses every Go file of the module: not those of folders that the go
// command passes over, nor of modules within it.
func load(tree fs.FS) (all []source, err error) {
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && foreign(tree, name):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		s, err := parse(tree, name)
		all = append(all, s)
		return err
	})
	return all, err
}

// foreign reports whether the folder dir does not belong to the module.
func foreign(tree fs.FS, dir string) bool {
	base := path.Base(dir)
	if base[0] == '.' || base[0] == '_' || base == "testdata" || base == "vendor" {
		return true
	}
	_, err := fs.Stat(tree, path.Join(dir, "go.mod"))
	return err == nil
}

func parse(tree fs.FS, name string) (source, error) {
	s := source{name: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), lines: token.NewFileSet()}
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		return s, err
	}
	s.syntax, err = parser.ParseFile(s.lines, name, text, parser.SkipObjectResolution)
	if err != nil {
		return s, err
	}
	for _, spec := range s.syntax.Imports {
		i := imported{line: s.lines.Position(spec.Pos()).Line}
		if i.path, err = strconv.Unquote(spec.Path.Value); err != nil {
			return s, err
		}
		if spec.Name != nil {
			i.name = spec.Name.Name
		}
		s.imports = append(s.imports, i)
	}
	return s, nil
}
