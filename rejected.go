package backstay

import "errors"

// ErrRejected is matched, through errors.Is, by every refusal that Backstay
// makes before anything is sent: an open breaker, a full bulkhead, a deadline
// too near, a closed pipeline. The request has had no effect anywhere.
var ErrRejected = errors.New("backstay: rejected before sending")
