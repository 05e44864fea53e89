package httpmwtest_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/middleware/httpmw/httpmwtest"
	"github.com/backstay-go/backstay/retry"
)

// A PUT meets a bad day. In a test, [httpmwtest.Client] makes the client and
// closes it, and testing/synctest makes waits take no time.
func ExampleScript() {
	target := middleware.Standard("profiles")
	target.Retry = &retry.Config{Base: retry.NoWait} // examples run in real time
	target.Propagate.Hosts = []string{"*"}
	backend := httpmwtest.Script(
		httpmwtest.Status(503),
		httpmwtest.Reset(),
		httpmwtest.Status(200).Body("saved"),
	)
	var seen httpmwtest.Recorder
	transport, err := httpmw.NewTransport(backend, target, httpmw.WithObserver(&seen))
	if err != nil {
		fmt.Println(err)
		return
	}
	client := &http.Client{Transport: transport}

	req, _ := http.NewRequest(http.MethodPut, "http://profiles.test/7", strings.NewReader("name=Ada"))
	resp, err := client.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	fmt.Println(resp.StatusCode, string(text))

	fmt.Println("bodies:", backend.Contents())
	fmt.Printf("attempts: %q\n", backend.Headers("X-Backstay-Attempt"))
	for _, e := range seen.Events(backstay.AttemptDone) {
		fmt.Println("attempt", e.Attempt, "ended in", e.Outcome.Class)
	}
	// Output:
	// 200 saved
	// bodies: [name=Ada name=Ada name=Ada]
	// attempts: ["" "2" "3"]
	// attempt 1 ended in transient
	// attempt 2 ended in transient
	// attempt 3 ended in success
}
