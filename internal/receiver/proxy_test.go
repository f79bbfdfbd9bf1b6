package receiver

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/throwaway"
	"github.com/safrasync/safrasync/trade"
)

// front is a real proxy before the receiver, as an example of docs/examples configures it.
type front struct {
	name    string
	program string
	example string
	through bool // TLS is passed through, and ends at the receiver
	long    bool
	// write makes the configuration in a folder and gives the program's arguments; the example has
	// its addresses and files already.
	write func(dir, example string) (config string, args []string)
	ready string // what it says when it serves
}

var fronts = []front{
	{
		name: "nginx", program: "nginx", example: "events-nginx.conf",
		write: nginx(
			"http { client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;", ""), ready: "start worker process ",
	},
	{
		name: "HAProxy", program: "haproxy", example: "events-haproxy.cfg", long: true, write: asItIs("-W", "-f"),
		ready: "Loading success",
	},
	{
		name: "Caddy", program: "caddy", example: "events-Caddyfile", long: true,
		write: asItIs("run", "--adapter", "caddyfile", "--config"), ready: "serving initial configuration",
	},
	{
		name: "nginx, TLS passed through", program: "nginx", example: "events-nginx-stream.conf", through: true,
		write: nginx("stream {", "load_module /usr/lib/nginx/modules/ngx_stream_module.so;\n"),
		ready: "start worker process ",
	},
}

func nginx(context, modules string) func(dir, example string) (string, []string) {
	return func(dir, example string) (string, []string) {
		return modules +
				"daemon off; pid nginx.pid; error_log stderr notice; worker_processes 1;\nevents { worker_connections 1024; }\n" + context + "\n" + example + "\n}\n",
			[]string{"-p", dir, "-e", "stderr", "-c", filepath.Join(dir, "config")}
	}
}

// asItIs is for programs of which an example is the whole configuration; its file comes after these
// arguments.
func asItIs(args ...string) func(dir, example string) (string, []string) {
	return func(dir, example string) (string, []string) {
		return example + "\n", append(slices.Clone(args), filepath.Join(dir, "config"))
	}
}

// fronted is a world that is reached through a proxy.
type fronted struct {
	*world
	front
	sick    *sick
	process *throwaway.Process
	said    *throwaway.Log
}

// eachFront runs a test behind each proxy, with TLS that ends at the proxy and, unless the receiver
// is down, TLS that is passed through. Nobody is believed who says from where a request comes, and
// what was answered 503 is not stored.
func eachFront(t *testing.T, down bool, test func(t *testing.T, w *fronted)) {
	t.Helper()
	t.Parallel()
	for _, f := range fronts {
		if f.long && os.Getenv("SAFRASYNC_TEST_LONG") == "" || f.through && down {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			cert, key := must.Certificate(t)
			w := &fronted{front: f, sick: &sick{}, said: throwaway.NewLog(f.ready)}
			w.world = newWorld(t, func(o *Setup) {
				w.sick.Inbox, o.Inbox = o.Inbox, w.sick
				if f.through {
					pair := must.Get(tls.X509KeyPair(cert, key))(t)
					o.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
				}
			})
			receiver := w.server.Address()
			if down {
				receiver = "127.0.0.1:1" // where nobody listens
			}
			w.launch(receiver, cert, key)
			test(t, w)
			for _, e := range must.Get(w.store.Inbox(t.Context(), trade.InboxFilter{}))(t) {
				if e.From != "127.0.0.1" || bytes.Contains(e.Body, []byte("never")) {
					t.Errorf("an event counts as sent from %s: %.100s", e.From, e.Body)
				}
			}
		})
	}
}

// launch starts the proxy before a receiver, and lets the world's requests go to it.
func (w *fronted) launch(receiver string, certificate, key []byte) {
	w.t.Helper()
	program, err := exec.LookPath(w.program)
	if err != nil {
		program, err = exec.LookPath("/usr/sbin/" + w.program)
		if err != nil {
			w.t.Fatalf("%v: run `make need`, which installs it", err)
		}
	}
	text := must.Get(os.ReadFile("../../docs/examples/" + w.example))(w.t)
	address := fmt.Sprintf("127.0.0.1:%d", must.Get(throwaway.FreePort())(w.t))
	dir := w.t.TempDir()
	example := strings.NewReplacer("listen 443", "listen "+address, "bind :443", "bind "+address, "\n:443 {",
		"\n"+strings.TrimPrefix(address, "127.0.0.1")+" {\n\tbind 127.0.0.1", "/etc/ssl/", dir+"/",
		"127.0.0.1:8443", receiver).Replace(string(text))
	config, args := w.write(dir, example)
	for name, content := range map[string][]byte{
		"eventos.crt": certificate, "eventos.key": key, "config": []byte(config),
		"eventos.pem": append(bytes.Clone(certificate), key...),
	} {
		must.Do(w.t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, w.said, w.said
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + dir}
	w.process = must.Get(throwaway.Spawn(cmd, syscall.SIGTERM, nil))(w.t)
	w.t.Cleanup(func() { must.Do(w.t, w.process.Stop(syscall.SIGTERM, w.program)) })
	select {
	case <-w.said.Ready:
	case <-w.process.Done:
		w.t.Fatalf("%s ended: %s", w.name, w.said)
	case <-time.After(throwaway.Patience):
		w.t.Fatalf("%s does not serve: %s", w.name, w.said)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(certificate)
	w.trust = &tls.Config{RootCAs: roots, ServerName: "localhost", MinVersion: tls.VersionTLS12}
	w.url = "https://" + strings.Replace(address, "127.0.0.1", "localhost", 1) + w.login.Path
}

// Behind real proxies each refusal reaches the sender, no limit is lost, and what was answered with
// 200 is stored, and nothing else.
func TestBehindAProxyNoLimitIsLost(t *testing.T) {
	eachFront(t, false, func(t *testing.T, w *fronted) {
		lies := func(r *http.Request) {
			r.Header.Set("X-Forwarded-For", "198.51.100.7")
			r.Header.Set("Forwarded", "for=198.51.100.7")
			r.Header.Set("X-Real-IP", "198.51.100.7")
		}
		w.want("an event", w.post(strings.NewReader(`"one"`), lies), 200)
		w.want("the most", w.post(bytes.NewReader(make([]byte, MaxBody)), lies), 200)
		w.stored(2)
		for name, size := range map[string]int{"one byte more": MaxBody + 1, "10 MB": 10 << 20} {
			// a proxy may answer with words of its own
			got, _, err := w.answer(bytes.NewReader(make([]byte, size)),
				func(r *http.Request) { r.Header.Set("Expect", "100-continue") })
			if got != http.StatusRequestEntityTooLarge {
				t.Errorf("%s: %d, %v; want 413", name, got, err)
			}
		}
		w.want("in chunks", w.post(io.MultiReader(strings.NewReader(`"chunks"`))), 200)
		w.stored(3)
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = z.Write([]byte(`{}`))
		_ = z.Close()
		w.want("gzip", w.post(&packed, func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") }),
			http.StatusUnsupportedMediaType)
		w.want("GET", w.post(nil, func(r *http.Request) { r.Method = http.MethodGet }), http.StatusMethodNotAllowed)
		w.want("another path", w.post(strings.NewReader("{}"), func(r *http.Request) { r.URL.Path += "x" }),
			http.StatusNotFound)
		w.want("another password", w.post(strings.NewReader("{}"),
			func(r *http.Request) { r.SetBasicAuth(w.login.User, "x") }), http.StatusUnauthorized)
		// One connection of the sender may carry many events where TLS ends at the proxy; each has its
		// own answer.
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: w.trust}}
		defer client.CloseIdleConnections()
		for i := range 5 {
			r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, w.url,
				strings.NewReader(fmt.Sprintf(`"kept %d"`, i))))(t)
			r.SetBasicAuth(w.login.User, w.login.Word)
			res, err := client.Do(r)
			must.Do(t, err)
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
			w.want("on a connection that is kept", res.StatusCode, 200)
		}
		w.stored(8)
		w.sick.set(true)
		w.want("what nothing takes", w.post(strings.NewReader(`"never"`)), http.StatusServiceUnavailable)
	})
}

// Whatever the proxy and the receiver make of a strange request, as many events are stored as were
// answered with 200: no request hides behind another one.
func TestBehindAProxyNoRequestHidesBehindAnother(t *testing.T) {
	eachFront(t, false, func(t *testing.T, w *fronted) {
		head := "POST " + w.login.Path + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic " +
			base64.StdEncoding.EncodeToString([]byte(w.login.Basic())) + "\r\n"
		hidden := func(n int) string {
			body := fmt.Sprintf("hidden %02d", n)
			return head + fmt.Sprintf("Connection: close\r\nContent-Length: %d\r\n\r\n", len(body)) + body
		}
		before := 0
		for i, c := range []struct{ name, raw string }{
			{"pipelined", head + "Content-Length: 2\r\n\r\no0"},
			{"another host", strings.Replace(head, "Host: localhost", "Host: elsewhere.example", 1) +
				"Content-Length: 2\r\n\r\np3"},
			{"both lengths", head + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
			{"both lengths, the other way", head +
				"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n2\r\no1\r\n0\r\n\r\n"},
			{"two lengths", head + "Content-Length: 2\r\nContent-Length: 3\r\n\r\no2"},
			{"a blank before the colon", head + "Content-Length : 2\r\n\r\no3"},
			{"an odd transfer-encoding", head + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"},
			{"two transfer-encodings", head +
				"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\no4"},
			{"a tab before chunked", head + "Transfer-Encoding:\tchunked\r\n\r\n2\r\no5\r\n0\r\n\r\n"},
			{"bare line feeds in the chunks", head + "Transfer-Encoding: chunked\r\n\r\n2\no6\n0\n\n"},
			{"an extension of a chunk", head + "Transfer-Encoding: chunked\r\n\r\n2;a=\"\r\n\"\r\no7\r\n0\r\n\r\n"},
			{"a negative length", head + "Content-Length: -1\r\n\r\no8"},
			{"a length with a sign", head + "Content-Length: +2\r\n\r\no9"},
			{"a folded header", head + "X: a\r\n b\r\nContent-Length: 2\r\n\r\np0"},
			{"HTTP/1.0", strings.Replace(head, "HTTP/1.1", "HTTP/1.0", 1) +
				"Connection: keep-alive\r\nContent-Length: 2\r\n\r\np1"},
			{
				"upgrade",
				head +
					"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nContent-Length: 2\r\n\r\np2",
			},
		} {
			conn := must.Get(tls.Dial("tcp", strings.Split(w.url, "/")[2], w.trust))(t)
			_, _ = io.WriteString(conn, c.raw+hidden(i)) // the other side may have closed already
			taken := 0
			for scan := bufio.NewScanner(conn); scan.Scan(); {
				if strings.HasPrefix(scan.Text(), "HTTP/1.") && strings.Contains(scan.Text(), " 200 ") {
					taken++
				}
			}
			_ = conn.Close()
			events := must.Get(w.store.Inbox(t.Context(), trade.InboxFilter{}))(t)
			if got := len(events) - before; got != taken {
				t.Errorf("%s: %d events are stored, and %d were answered with 200", c.name, got, taken)
			}
			if taken > 1 && w.through {
				t.Errorf("%s: %d requests on one connection", c.name, taken)
			}
			before = len(events)
		}
	})
}

// Senders that stop in the middle hold nobody up.
func TestBehindAProxySlowSendersHoldNobodyUp(t *testing.T) {
	eachFront(t, false, func(t *testing.T, w *fronted) {
		var slow []net.Conn
		for i := range 50 {
			conn := must.Get(tls.Dial("tcp", strings.Split(w.url, "/")[2], w.trust))(t)
			text := "POST " + w.login.Path + " HTTP/1.1\r\nHost: localhost\r\n"
			if i%2 == 0 {
				text += "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(w.login.Basic())) +
					"\r\nContent-Length: 100\r\n\r\n{"
			}
			_, _ = io.WriteString(conn, text)
			slow = append(slow, conn)
		}
		for i := range 10 {
			w.want("beside fifty slow senders", w.post(strings.NewReader(fmt.Sprintf(`"beside %d"`, i))), 200)
		}
		for _, conn := range slow {
			_ = conn.Close()
		}
		w.stored(10)
	})
}

// The path of an event is a secret, which a proxy that cannot pass it on tells nobody: not in what
// it says, and in no file.
func TestAProxyTellsNobodyThePathOfAnEvent(t *testing.T) {
	eachFront(t, true, func(t *testing.T, w *fronted) {
		for _, size := range []int{7, 1 << 20} { // the second is larger than what it takes into its memory at once
			// A proxy that need not read a body to know the answer may close before it was
			// sent; so this sender asks first.
			if got, _, err := w.answer(bytes.NewReader(make([]byte, size)),
				func(r *http.Request) { r.Header.Set("Expect", "100-continue") }); err != nil || got < 500 {
				t.Errorf("while the receiver is down: %d, %v", got, err)
			}
		}
		must.Do(t, w.process.Stop(syscall.SIGTERM, w.program)) // then it has said all
		secret := strings.Trim(w.login.Path, "/")
		if strings.Contains(w.said.String(), secret) {
			t.Errorf("it says the path: %s", w.said)
		}
		must.Do(t, filepath.WalkDir(w.process.Cmd.Dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s has the path", path)
			}
			return err
		}))
	})
}
