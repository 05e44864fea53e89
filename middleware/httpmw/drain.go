package httpmw

import (
	"io"
	"net/http"
	"time"
)

// drain reads what is left of a response that nobody will see and closes it,
// so that its connection can carry the next attempt. A body that is too long
// or too slow for the limits costs its connection instead.
func (t *Transport) drain(resp *http.Response) {
	if resp == nil || resp.Body == nil || resp.Body == http.NoBody {
		return
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		_ = resp.Body.Close()
		return
	}
	bounds := t.now()
	stop := time.AfterFunc(bounds.drainTime, func() { _ = resp.Body.Close() })
	_, _ = io.CopyN(io.Discard, resp.Body, bounds.drainLimit)
	stop.Stop()
	_ = resp.Body.Close()
}
