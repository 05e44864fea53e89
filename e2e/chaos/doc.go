// Package chaos tests the faults of middleware/chaos through whole clients: an
// httpmw transport, and a gRPC connection.
package chaos
