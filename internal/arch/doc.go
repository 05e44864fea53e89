// Package arch holds the layers of the module as a test: who may import whom,
// which third parties each package may use, and what a pure package must do
// without. [Layers] is the table; tests of a package obey it as the package
// does, because what they import ends up in the go.sum of every user.
package arch
