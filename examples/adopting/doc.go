// Package adopting is the code of docs/adopting.md: a client of a service for
// payments, and a server, as Backstay comes to them step by step. What the page
// quotes is compiled here, and the tests show in virtual time what each step
// changes.
//
//	go test -v ./examples/adopting
package adopting
