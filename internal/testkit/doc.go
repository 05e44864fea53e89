// Package testkit holds what the module's own tests share.
package testkit
