// What check asks of the platform, its clock, and the provider of logins.

package maintenance

import (
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/words"
)

// openID requests the discovery document of the console's login provider. A provider that does not
// answer is a warning only, because nothing else depends on it.
func (c *checker) openID(ctx context.Context) {
	const name = "console.oidc"
	issuer, err := c.app.Config.OpenID()
	switch {
	case issuer == nil && err == nil:
		return
	case err == nil:
		err = issuer.Check(ctx, office.Now())
	}
	if err != nil {
		c.warn(name, "users with a password in the console can log in; all others only when the provider answers: check console.oidc.issuer, ca_file and proxy", "%v", err)
		return
	}
	c.pass(name, "%s answers and has keys", issuer.Issuer)
}

// maxClockDrift is the difference to the API's clock above which schedules and dates of the ledger
// mislead people.
const maxClockDrift = 5 * time.Minute

// api sends two harmless GETs. The first reads the webhooks, as each run does before it sends. The
// second reads a contract that cannot exist: its response has the API's clock, and shows whether
// the key may read contracts.
func (c *checker) api(ctx context.Context) {
	// a proxy of the environment that is not used is named, because people expect that it is
	ignored := []string{"HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"}
	at := slices.IndexFunc(ignored, func(name string) bool { return os.Getenv(name) != "" })
	if c.app.Config.API.Proxy.IsZero() && at >= 0 {
		c.warn("api.proxy", "if the platform is reached through the proxy only, write its address into api.proxy", "the variable %s is set on this host, but safrasync does not use a proxy of the environment for the platform", ignored[at])
	}
	client, err := c.app.OpenAPI()
	if err != nil {
		c.fail("api", "config.example.yaml explains every key", "%v", err)
		return
	}
	asked := office.Now()
	_, err = client.ListWebhooks(ctx)
	var failure *apiclient.CallError
	if err != nil && (!errors.As(err, &failure) || !cli.Passes(failure)) {
		if failure != nil && !c.app.AsJSON {
			c.fail("api", apiHint(failure), "%s (technical detail: %v)",
				words.FailureOf(c.app.Voice(), failure).What, err)
		} else {
			c.fail("api", apiHint(failure), "%v", err)
		}
		if failure != nil {
			c.clock(failure.Header, asked)
		}
		return
	}
	c.pass("api", "%s answers and accepts the key", c.app.Config.API.BaseURL)
	asked = office.Now()
	failure = nil
	_, err = client.GetOrderCommitment(ctx, uuid.NewString())
	if errors.As(err, &failure) {
		c.clock(failure.Header, asked)
	}
}

// apiHint returns the hint for a GET that failed.
func apiHint(e *apiclient.CallError) i18n.Key {
	switch {
	case e == nil:
	case e.Status == http.StatusUnauthorized && e.Format == apiclient.FormatEmpty:
		return "the gateway accepted the key, but a service behind it refused it: ask the platform's support"
	case e.Status == http.StatusUnauthorized:
		return "the key was refused: renew api.api_key"
	case e.Status == http.StatusForbidden:
		return "the key has no permission: ask the platform's support"
	case e.Fault == apiclient.FaultCertificate:
		return "check api.ca_file and this host's clock"
	}
	return "check api.base_url, the network and api.proxy"
}

// clock compares the host's clock with the API's Date header, if the response has one.
func (c *checker) clock(header http.Header, asked time.Time) {
	theirs, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return
	}
	drift := asked.Sub(theirs).Round(time.Second)
	if drift.Abs() > maxClockDrift {
		c.warn("clock", "switch on time synchronisation (NTP) on this host", "differs by %s from the API's clock", drift)
		return
	}
	c.pass("clock", "agrees with the API's clock")
}
