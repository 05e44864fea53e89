// Package otel tests middleware/otelmw as a program uses it: real clients and
// servers, and the SDK's exporters, which send OTLP to a collector that keeps
// what it gets. All of it is on loopback.
package otel
