package sandbox

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
)

func TestCloseNamesTheHooksThatHoldRequests(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan struct{}), make(chan struct{})
	r := must.Get(Start(Options{OnPost: func(int) {
		close(arrived)
		<-release
	}}, "127.0.0.1:0"))(t)
	r.grace = time.Millisecond
	answered := make(chan error)
	go func() {
		res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).
			Post(r.URL+prefix+"/order-commitments", "application/json", strings.NewReader("{}"))
		if err == nil {
			_ = res.Body.Close()
		}
		answered <- err
	}()
	<-arrived
	if err := r.Close(); err == nil || !strings.Contains(err.Error(), "1 requests are still held") {
		t.Errorf("Close = %v", err)
	}
	close(release)
	if err := <-answered; err == nil {
		t.Error("the request was answered after Close had cut its connection")
	}
	if err := r.quiet(time.Minute); err != nil {
		t.Error(err)
	}
	if n := len(r.Created()); n != 0 {
		t.Errorf("%d executed", n)
	}
}
