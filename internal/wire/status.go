package wire

// httpStatus is the HTTP status for each gRPC code, by its number.
var httpStatus = [...]int{
	0:  200, // OK
	1:  499, // CANCELLED
	2:  500, // UNKNOWN
	3:  400, // INVALID_ARGUMENT
	4:  504, // DEADLINE_EXCEEDED
	5:  404, // NOT_FOUND
	6:  409, // ALREADY_EXISTS
	7:  403, // PERMISSION_DENIED
	8:  429, // RESOURCE_EXHAUSTED
	9:  400, // FAILED_PRECONDITION
	10: 409, // ABORTED
	11: 400, // OUT_OF_RANGE
	12: 501, // UNIMPLEMENTED
	13: 500, // INTERNAL
	14: 503, // UNAVAILABLE
	15: 500, // DATA_LOSS
	16: 401, // UNAUTHENTICATED
}

// HTTPStatus returns the HTTP status for a gRPC code; 500 for one that is not
// known.
func HTTPStatus(code uint32) int {
	if code < uint32(len(httpStatus)) {
		return httpStatus[code]
	}
	return 500
}
