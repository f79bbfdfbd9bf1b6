package size

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Console is the program's console on a trial's ledger, as the service serves it, and a browser
// that is logged in.
type Console struct {
	base    string
	browser *http.Client
	service *exec.Cmd
}

// password is the password of the only user of a trial.
const password = "quatro cavalos no milharal"

// Serve starts the service. It needs a configuration with a console.
func (w *World) Serve(ctx context.Context) (c *Console, err error) {
	add := exec.CommandContext(ctx, w.Binary, "--config", w.Config(), "users", "add", "carla", "--role",
		"administrator", "--password-stdin")
	add.Env, add.Stdin = environment(), strings.NewReader(password+"\n")
	if out, err := add.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("safrasync users add: %w: %s", err, out)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	c = &Console{
		browser: &http.Client{Jar: jar, Timeout: 40 * time.Minute},
		service: exec.CommandContext(ctx, w.Binary, "--config", w.Config(), "run"),
	}
	c.service.Env = environment()
	said, err := c.service.StderrPipe()
	if err == nil {
		err = c.service.Start()
	}
	if err != nil {
		return nil, err
	}
	var log []string
	for scan := bufio.NewScanner(said); c.base == "" && scan.Scan(); {
		var line struct{ Msg, Address string }
		if json.Unmarshal(scan.Bytes(), &line) == nil && line.Msg == "the console is served" {
			c.base = "http://" + line.Address
		}
		log = append(log, scan.Text())
	}
	if c.base == "" {
		return nil, fmt.Errorf("the service ended: %w: %s", c.service.Wait(), strings.Join(log, "\n"))
	}
	go func() { _, _ = io.Copy(io.Discard, said) }() // until the service ends
	answer, err := c.browser.PostForm(c.base+"/login", url.Values{"name": {"carla"}, "password": {password}})
	if err == nil {
		_, err = read(answer)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func environment() []string {
	return append(os.Environ(), "LC_ALL=C", "SAFRASYNC_API_KEY=canary-key-9d41f7")
}

// Close stops the service as a service manager does.
func (c *Console) Close() error {
	c.browser.CloseIdleConnections()
	return errors.Join(c.service.Process.Signal(syscall.SIGTERM), c.service.Wait())
}

func read(answer *http.Response) (string, error) {
	body, err := io.ReadAll(answer.Body)
	err = errors.Join(err, answer.Body.Close())
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.2000s", answer.Request.URL.Path, answer.Status, body)
	}
	return string(body), err
}

// Page requests a page and returns it, with the time until its last byte.
func (c *Console) Page(path string) (string, time.Duration, error) {
	began := time.Now()
	answer, err := c.browser.Get(c.base + path)
	if err != nil {
		return "", 0, err
	}
	body, err := read(answer)
	return body, time.Since(began), err
}

// PageCost is the cost of a page.
type PageCost struct {
	Path   string
	First  time.Duration // of the first request
	Median time.Duration // of the later requests
	Worst  time.Duration
	CPU    time.Duration // of the service, averaged over all requests except the first; without the databases
}

var rowLink = regexp.MustCompile(`href="(/rows/\d+)"`)

// reads is in the text of a page whose rows are still being read.
const reads = `hx-trigger="load`

// Warm requests the pages that read in the background until they are complete, and returns how long
// each was incomplete.
func (c *Console) Warm() (stuck, keys time.Duration, err error) {
	_, _, err = c.Page("/")
	if err != nil { // the first page after the login; it starts the reading of the stuck rows
		return 0, 0, err
	}
	for path, took := range map[string]*time.Duration{"/pending": &stuck, "/rows?q=nowhere": &keys} {
		began := time.Now()
		for body := reads; strings.Contains(body, reads); *took = time.Since(began) {
			body, _, err = c.Page(path)
			if err != nil {
				return 0, 0, err
			}
		}
	}
	return stuck, keys, nil
}

// Pages requests every page of the menu, and the list of rows with each usual filter, this many
// times.
func (c *Console) Pages(rows, times int) ([]PageCost, error) {
	number := fmt.Sprintf("%09d", rows/2)
	list, _, err := c.Page("/rows?state=rejected")
	if err != nil {
		return nil, err
	}
	paths := []string{
		"/", "/season", "/doubts", "/changed", "/references", "/references/wallets", "/report", "/report?show=1",
		"/routines", "/events", "/alerts", "/audit",
		"/users", "/account",
		"/rows", "/rows?after=" + fmt.Sprint(rows/2), "/rows?state=needs_person", "/rows?state=waiting",
		"/rows?state=invalid&sort=key", "/rows?state=accepted&sort=key", "/rows?cause=message.wallet.not-found",
		"/rows?flag=changed", "/rows?sort=oldest", "/rows?sort=key", "/rows?q=" + number,
		"/rows?q=" + strings.TrimLeft(number, "0"), "/rows?q=" + number[4:7], "/rows?q=X" + number + "Y",
		"/rows?q=%7C" + number[:7], "/rows?q=%7C" + number[:7] + "&state=accepted&sort=key", "/rows?q=nowhere&sort=key",
		"/rows?q=nowhere&state=rejected", "/rows?from=2001-01-01&until=2001-01-02",
		"/rows?sort=-value", "/rows?sort=-value&after=" + fmt.Sprint(rows/2) + "_1000000000000", "/rows?sort=volume",
		"/rows?sort=title&after=" + fmt.Sprint(rows/2), "/rows?sort=-day&state=accepted", "/rows?sort=state",
		"/rows?sort=-changed", "/rows?product=SOJA", "/rows?product=SOJA&branch=02&sort=-value",
		"/rows?producer=00000000000700", "/rows?producer=00000000000700&sort=-value&state=accepted",
		"/rows?value_from=1.000.000,00", "/rows?day_from=2019-07-01&day_until=2019-07-31", "/rows?product=SOJA&sum=1",
	}
	if m := rowLink.FindStringSubmatch(list); m != nil {
		paths = append(paths, m[1], "/act/retry?row="+strings.TrimPrefix(m[1], "/rows/"))
	}
	paths = append(paths, "/pending", "/pending?who=it")
	out := make([]PageCost, 0, len(paths))
	for _, path := range paths {
		cost := PageCost{Path: path}
		var took []time.Duration
		var before time.Duration
		for i := range times + 1 {
			if i == 1 {
				before = cpuOf(c.service.Process.Pid)
			}
			_, one, err := c.Page(path)
			if err != nil {
				return nil, err
			}
			if i == 0 {
				cost.First = one
			} else {
				took = append(took, one)
			}
		}
		cost.CPU = (cpuOf(c.service.Process.Pid) - before) / time.Duration(times)
		slices.Sort(took)
		cost.Median, cost.Worst = took[len(took)/2], took[len(took)-1]
		out = append(out, cost)
	}
	return out, nil
}

// cpuOf returns the CPU time of a process, in steps of 10 ms, or 0 if the kernel does not report
// it.
func cpuOf(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest) // the third field of the line is the first here
	if len(fields) < 13 {
		return 0
	}
	var ticks int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
