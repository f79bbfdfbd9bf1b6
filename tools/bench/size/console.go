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

// Console is the program's console on a trial's ledger, as the service serves it, and a browser in
// which an accountant has logged in.
type Console struct {
	base    string
	browser *http.Client
	service *exec.Cmd
}

// password is that of the one person of a trial.
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
	go func() { _, _ = io.Copy(io.Discard, said) }() // until it ends
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

// Close ends the service as a service manager does.
func (c *Console) Close() error {
	c.browser.CloseIdleConnections()
	return errors.Join(c.service.Process.Signal(syscall.SIGTERM), c.service.Wait())
}

func read(answer *http.Response) (string, error) {
	body, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.2000s", answer.Request.URL.Path, answer.Status, body)
	}
	return string(body), err
}

// Page asks for a page and gives it, with the time until its last byte was there.
func (c *Console) Page(path string) (string, time.Duration, error) {
	began := time.Now()
	answer, err := c.browser.Get(c.base + path)
	if err != nil {
		return "", 0, err
	}
	body, err := read(answer)
	return body, time.Since(began), err
}

// PageCost is what a page took.
type PageCost struct {
	Path   string
	First  time.Duration // when nobody had asked for it yet
	Median time.Duration // of the times after that
	Worst  time.Duration
	CPU    time.Duration // of the service, on average of all times but the first; the databases' is not in it
}

var rowLink = regexp.MustCompile(`href="(/rows/\d+)"`)

// reads is on a page that says that rows are being read.
const reads = `hx-trigger="load`

// Warm asks for the pages that begin to read in the background until they have all that they show,
// and tells how long each was not complete.
func (c *Console) Warm() (stuck, keys time.Duration, err error) {
	if _, _, err = c.Page("/"); err != nil { // whoever logs in sees it, and what is stuck is read from then on
		return 0, 0, err
	}
	for path, took := range map[string]*time.Duration{"/pending": &stuck, "/rows?q=nowhere": &keys} {
		began := time.Now()
		for body := reads; strings.Contains(body, reads); *took = time.Since(began) {
			if body, _, err = c.Page(path); err != nil {
				return 0, 0, err
			}
		}
	}
	return stuck, keys, nil
}

// Pages asks for every page of the menu, and for the list of rows in each way that people do, so
// many times.
func (c *Console) Pages(rows, times int) ([]PageCost, error) {
	number := fmt.Sprintf("%09d", rows/2)
	list, _, err := c.Page("/rows?state=rejected")
	if err != nil {
		return nil, err
	}
	paths := []string{
		"/", "/doubts", "/changed", "/references", "/references/wallets", "/report", "/runs", "/schedules", "/audit",
		"/users", "/account",
		"/rows", "/rows?after=" + fmt.Sprint(rows/2), "/rows?state=needs_person", "/rows?state=waiting",
		"/rows?state=invalid&sort=key", "/rows?state=accepted&sort=key", "/rows?cause=message.wallet.not-found",
		"/rows?flag=changed", "/rows?sort=oldest", "/rows?sort=key", "/rows?q=" + number,
		"/rows?q=" + strings.TrimLeft(number, "0"), "/rows?q=" + number[4:7], "/rows?q=X" + number + "Y",
		"/rows?q=%7C" + number[:7], "/rows?q=%7C" + number[:7] + "&state=accepted&sort=key", "/rows?q=nowhere&sort=key",
		"/rows?q=nowhere&state=rejected", "/rows?from=2001-01-01&until=2001-01-02",
	}
	if m := rowLink.FindStringSubmatch(list); m != nil {
		paths = append(paths, m[1], m[1]+"/retry")
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

// cpuOf is the time that a process has computed, in steps of 10 ms; 0 where the kernel does not
// tell.
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
