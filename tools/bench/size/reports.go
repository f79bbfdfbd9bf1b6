package size

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// ReportCost is what a report with all its single rows took.
type ReportCost struct {
	Wall time.Duration
	CPU  time.Duration // of the program, the databases' is not in it
	Peak int64         // bytes of memory at the most, as the kernel counts them
	Size int64         // bytes of the file
}

// ReportFile lets `safrasync report` write a file, and removes it.
func (w *World) ReportFile(ctx context.Context, format string) (ReportCost, error) {
	file := filepath.Join(w.Dir, "report."+format)
	c, err := w.Run(ctx, "report", "--format", format, "-o", file)
	if err != nil {
		return ReportCost{}, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return ReportCost{}, err
	}
	return ReportCost{c.Wall, c.CPU, c.Peak, info.Size()}, os.Remove(file)
}

var formToken = regexp.MustCompile(`name="token" value="([^"]+)"`)

// Export lets the console write a report, as an accountant does by a button of its page.
func (c *Console) Export(format string) (ReportCost, error) {
	page, _, err := c.Page("/report")
	if err != nil {
		return ReportCost{}, err
	}
	token := formToken.FindStringSubmatch(page)
	if token == nil {
		return ReportCost{}, errors.New("the page of the report has no form")
	}
	pid := c.service.Process.Pid
	if err := forgetPeak(pid); err != nil {
		return ReportCost{}, err
	}
	cpu, began := cpuOf(pid), time.Now()
	answer, err := c.browser.PostForm(c.base+"/report/export",
		url.Values{"token": {token[1]}, "format": {format}, "single": {"1"}, "show": {"1"}})
	if err != nil {
		return ReportCost{}, err
	}
	n, err := io.Copy(io.Discard, answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err == nil &&
		(answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Disposition") == "") {
		err = fmt.Errorf("the export was not given: %s", answer.Status)
	}
	return ReportCost{time.Since(began), cpuOf(pid) - cpu, peakOf(pid), n}, err
}

// forgetPeak lets the kernel count the most memory of a process anew from now on.
func forgetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}
