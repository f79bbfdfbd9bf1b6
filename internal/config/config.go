package config

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"time"
	_ "time/tzdata" // erp.time_zone and CRON_TZ must work on a machine without zone files

	"go.uber.org/zap/zapcore"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Config is the configuration file, checked, with its defaults filled in and its secrets resolved.
// Only [Load] and [LoadWithoutSecrets] return a checked one. The yaml tags are the grammar: they
// decide which keys exist, and a test compares config.example.yaml with them.
type Config struct {
	API        APIConfig                  `yaml:"api"`
	ERP        ERPConfig                  `yaml:"erp"`
	State      StateConfig                `yaml:"state"`
	References map[string]ReferenceConfig `yaml:"references"` // by kind; optional
	Values     map[string]ValueMap        `yaml:"values"`     // by name; optional
	With       SnippetsConfig             `yaml:"with"`       // optional
	Checks     ChecksConfig               `yaml:"checks"`
	Brakes     BrakesConfig               `yaml:"brakes"`
	Approve    ApproveConfig              `yaml:"approve"`
	Retention  RetentionConfig            `yaml:"retention"`
	Log        LogConfig                  `yaml:"log"`
	Alerts     AlertsConfig               `yaml:"alerts"`
	Console    ConsoleConfig              `yaml:"console"`  // optional
	Metrics    MetricsConfig              `yaml:"metrics"`  // optional
	Webhooks   WebhooksConfig             `yaml:"webhooks"` // optional
	HTTPAPI    HTTPAPIConfig              `yaml:"http_api"` // optional
	Language   string                     `yaml:"language"` // pt-BR or en; "" = language of the environment
	Report     ReportConfig               `yaml:"report"`
	Jobs       JobsConfig                 `yaml:"jobs"`

	file
	zone *time.Location

	stale []string // see StaleSecrets
}

// file is what a configuration was read from.
type file struct {
	source  *Source
	index   map[string]Entry  // every place of the file, by its path
	written map[string]string // values that contain ${…}, as written in the file
}

// APIConfig is the platform's address, key and limits.
type APIConfig struct {
	BaseURL          string        `yaml:"base_url"` // required; check removes a slash at its end
	APIKey           Secret        `yaml:"api_key"`  // required
	Timeout          time.Duration `yaml:"timeout"`
	MaxInFlight      int           `yaml:"max_in_flight"`
	RateLimit        float64       `yaml:"rate_limit"` // requests per second; 0 = none
	Doubt            string        `yaml:"doubt"`      // documented or strict
	Quarantine       time.Duration `yaml:"quarantine"` // I14
	StopAfterUnknown int           `yaml:"stop_after_unknown"`
	CAFile           string        `yaml:"ca_file"` // optional PEM file; relative to the configuration's folder
	Proxy            Secret        `yaml:"proxy"`   // optional; it may contain a user and a password
}

// ERPConfig is how to reach the ERP's database. It is only ever read (I8).
type ERPConfig struct {
	Driver           string        `yaml:"driver"`  // required: one of erp.Drivers
	DSN              Secret        `yaml:"dsn"`     // required
	Charset          string        `yaml:"charset"` // for a database that does not know its own
	TimeZone         string        `yaml:"time_zone"`
	StatementTimeout time.Duration `yaml:"statement_timeout"`
}

// StateConfig is where the ledger and its journal are.
type StateConfig struct {
	Driver string `yaml:"driver"` // sqlite or postgres
	DSN    Secret `yaml:"dsn"`    // a file for SQLite; required for PostgreSQL
	// Journal is the folder of the journals, which show that a ledger was rolled back or lost.
	// Default: "journal" beside the SQLite file; required for PostgreSQL.
	Journal string `yaml:"journal"`
	// Witness is a folder on another machine, or a PostgreSQL database, that shows that ledger and
	// journal together were put back from an older image. Optional.
	Witness Secret `yaml:"witness"`
}

// Journals returns the folder of the journals. The default is not stored in Journal, because it
// would show what a DSN resolves to.
func (s StateConfig) Journals() string {
	if s.Journal == "" && s.Driver == "sqlite" {
		return filepath.Join(filepath.Dir(s.DSN.Reveal()), "journal")
	}
	return s.Journal
}

// ReferenceConfig is a query of the ERP for one de-para table, read at the start of each run.
type ReferenceConfig struct {
	Query string  `yaml:"query"` // required
	Code  Columns `yaml:"code"`  // required: the columns that form the code
	ID    string  `yaml:"id"`    // required: the column with the platform's id
	Label string  `yaml:"label"` // optional: the column with the text that people see beside the code
}

// ChecksConfig is the severity of each plausibility check: error, warn or off; car may also be
// shape or strict.
type ChecksConfig struct {
	Amount     string `yaml:"amount"`
	Price      string `yaml:"price"`
	Volume     string `yaml:"volume"`
	DateOrder  string `yaml:"date_order"`
	DateWindow string `yaml:"date_window"`
	// strict means error; shape checks only the form <state code>-<number>-<code>
	CAR      string `yaml:"car"`
	Twin     string `yaml:"twin"`
	NearTwin string `yaml:"near_twin"`
	TwinDays int    `yaml:"twin_days"` // 0 = no limit
}

// TwinConfig is a job's own setting for equal rows; it overrides `checks:`.
type TwinConfig struct {
	Twin     string `yaml:"twin"`
	NearTwin string `yaml:"near_twin"`
	TwinDays int    `yaml:"twin_days"`
}

// BrakesConfig is what pauses a job before any of its rows is sent.
type BrakesConfig struct {
	NewRows      int    `yaml:"new_rows"` // multiple of the usual number; 0 = never
	NewRowsLeast int    `yaml:"new_rows_least"`
	Retyped      int    `yaml:"retyped"`     // 0 = never
	ChangedKey   string `yaml:"changed_key"` // pause or off
}

// SnippetsConfig are queries that other queries can use like tables, in the order of the file.
type SnippetsConfig []erp.Snippet

// JobsConfig are the jobs in the order of the file.
type JobsConfig []JobConfig

// JobConfig is one job.
type JobConfig struct {
	Name      string                 `yaml:"-"`
	Title     string                 `yaml:"title"` // optional: shown to people instead of the name
	Sends     string                 `yaml:"sends"` // required
	Show      ShowsConfig            `yaml:"show"`  // optional: shown to people before the key of a row
	Schedule  string                 `yaml:"schedule"`
	Query     string                 `yaml:"query"`      // required
	Key       Columns                `yaml:"key"`        // required
	Identity  string                 `yaml:"identity"`   // key space; "" = the one shared by all jobs that name none
	ChangedAt string                 `yaml:"changed_at"` // optional
	Lookback  time.Duration          `yaml:"lookback"`
	Sweep     string                 `yaml:"sweep"`
	Cancelled *mapping.CancelledSpec `yaml:"cancelled"` // optional
	Invalid   string                 `yaml:"invalid"`   // optional: column whose text makes a row an error
	Hours     SpansConfig            `yaml:"hours"`     // optional: hours in which it may send
	Most      *MostConfig            `yaml:"most"`      // optional: most that one run may send without a release
	// rows that go first after a change of the query or the mapping; 0 = all
	Canary     int                    `yaml:"canary"`
	Checks     TwinConfig             `yaml:"checks"`      // default: those of all jobs
	NothingNew time.Duration          `yaml:"nothing_new"` // default alerts.nothing_new; 0 = never
	Fields     map[string]FieldConfig `yaml:"fields"`      // required
}

// FieldConfig is the source of one field of the API. A plain text instead of the map is a column.
type FieldConfig struct {
	Column  Parts       `yaml:"column"`
	Const   *string     `yaml:"const"`
	Values  FieldValues `yaml:"values"`
	Default *string     `yaml:"default"`
	Date    string      `yaml:"date"`
	Number  string      `yaml:"number"`
	Empty   []string    `yaml:"empty"`
	Scale   *int32      `yaml:"scale"`
	Ref     string      `yaml:"ref"`
	SentBy  Parents     `yaml:"sent_by"`
	Lookup  string      `yaml:"lookup"`
	Per     *PerConfig  `yaml:"per"` // of a price: the unit for which the ERP has it
	In      string      `yaml:"in"`  // the field with the unit to which it is converted
}

// PerConfig is the source of the unit for which the ERP has a price. A plain text instead of the
// map is a column.
type PerConfig struct {
	Column  string      `yaml:"column"`
	Const   *string     `yaml:"const"`
	Values  FieldValues `yaml:"values"`
	Default *string     `yaml:"default"`
}

// Parents are the jobs whose rows' ids a field takes: one name, or a list of names and of maps that
// also name the columns.
type Parents []ParentConfig

// ParentConfig is one parent job.
type ParentConfig struct {
	Job    string `yaml:"job"`    // required
	Column Parts  `yaml:"column"` // columns with the parent row's key; default: those of the field
}

// Parts are the columns of a code and its constant parts, which stand as mapping.ConstPart among
// them.
type Parts []string

// Columns are one or more columns; in the file a text or a list.
type Columns []string

// ValueMap maps values of the ERP to values of the API. Both are texts as written in the file: 001
// and NO are not converted.
type ValueMap map[string]string

// FieldValues is the name of a value map, or a map written in the field itself.
type FieldValues struct {
	Name   string
	Inline ValueMap
}

// leaseMargin is how much longer a quarantine must last than two time-outs: the lease (30 s) and 10
// s more (I14).
const leaseMargin = 40 * time.Second

// Default returns a configuration that contains only defaults.
func Default() *Config {
	refuse := string(trade.Refuse)
	brakes := run.DefaultBrakes()
	return &Config{
		API: APIConfig{
			Timeout: 120 * time.Second, MaxInFlight: 8, RateLimit: 20, Doubt: "documented",
			Quarantine: 15 * time.Minute, StopAfterUnknown: 3,
		},
		ERP:   ERPConfig{TimeZone: "America/Sao_Paulo", StatementTimeout: time.Minute},
		State: StateConfig{Driver: "sqlite"},
		Log:   LogConfig{Level: "info"},
		Alerts: AlertsConfig{
			Name: "safrasync", RejectedAbove: 20, BackupOlder: 2 * day, NothingNew: 3 * day, Digest: "0 7 * * 1-5",
		},
		Checks: ChecksConfig{
			Amount: refuse, Price: refuse, Volume: refuse, DateOrder: refuse, DateWindow: refuse,
			CAR: refuse, Twin: string(trade.Warning), NearTwin: string(trade.Warning), TwinDays: 30,
		},
		Brakes: BrakesConfig{
			NewRows: brakes.NewRows, NewRowsLeast: brakes.NewRowsLeast, Retyped: brakes.Retyped,
			ChangedKey: "pause",
		},
		Approve: ApproveConfig{Lapse: 3 * day},

		Retention: RetentionConfig{Schedule: "30 2 * * *", Bodies: 180 * day, Audit: 1826 * day},
		Console:   ConsoleConfig{Idle: 30 * time.Minute, Name: "safrasync"},
		Report:    ReportConfig{ExactNumber{reconcile.DefaultTolerance().Contract}},
	}
}

const (
	defaultStateFile = "/var/lib/safrasync/state.db"
	defaultSchedule  = "*/10 * * * *"
	defaultSweep     = "0 3 * * *"
	defaultLookback  = 2 * time.Hour
)

// Places are the paths that are tried in this order without --config.
var Places = []string{"/etc/safrasync/config.yaml", "./config.yaml"}

// Find returns the path of the configuration: the file that --config names, else the first of
// [Places] that exists. If a file exists but cannot be accessed, Find returns an error; it never
// tries the next one.
func Find(flag string) (string, error) { return findConfig(flag, Places) }

func findConfig(flag string, places []string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	for _, place := range places {
		_, err := os.Stat(place)
		if err == nil {
			return place, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "",
				&Error{Faults: []Fault{{File: place, Text: phrase.New(
					"cannot be accessed: %w; give the service's user access, or name another file with --config FILE",
					PlainReason(err))}}, Cause: err}
		}
	}
	return "",
		&Error{Faults: []Fault{{Text: phrase.New(
			"no configuration: neither %s nor %s exists; start from config.example.yaml, which explains every key, or name a file with --config FILE", places[0], places[1])}}, Cause: fs.ErrNotExist}
}

var languageLine = regexp.MustCompile(`(?m)^language:[ \t]*["']?(pt-BR|en)\b`)

// LanguageOf returns the language that the file names, even if the file is otherwise invalid; "" if
// it names none.
func LanguageOf(flag string) string {
	path, err := Find(flag)
	if err != nil {
		return ""
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() { // a pipe can be read only once
		return ""
	}
	source, err := ReadSource(path)
	if err != nil {
		return ""
	}
	if found := languageLine.FindStringSubmatch(source.Text); found != nil {
		return found[1]
	}
	return ""
}

// Load reads the file strictly: every key must be known, every value of its type, every secret a
// reference that resolves. env looks up environment variables; nil means those of the process. The
// error is a *[Error] with all faults, each with its line. It never contains a secret or what a
// reference resolved to.
func Load(path string, env func(string) (string, bool)) (*Config, error) {
	return loadConfigWith(path, secretResolver{env: env, base: path})
}

// LoadWithoutSecrets loads a configuration for commands that connect to nothing. A placeholder
// replaces each secret that is not available.
func LoadWithoutSecrets(path string, env func(string) (string, bool)) (*Config, error) {
	return loadConfigWith(path, secretResolver{env: env, base: path, placeholder: true})
}

func loadConfigWith(path string, secrets secretResolver) (*Config, error) {
	if secrets.env == nil {
		secrets.env = os.LookupEnv
	}
	source, err := ReadSource(path)
	if err != nil {
		return nil, err
	}
	root, err := source.Parse()
	if err != nil {
		return nil, err
	}
	c := Default()
	secrets.stale = &c.stale
	d := NewDecoder(source)
	d.secrets = secrets
	top := d.Walk(root)
	c.file = file{source, d.Index, d.Written}
	d.Structure(top, c)
	if top.IsMap() { // otherwise every key would be reported as missing
		c.check(d)
	}
	if err := d.Err(); err != nil {
		return nil, err
	}
	for _, job := range c.Jobs {
		trade.NameKey(job.Key)
	}
	return c, nil
}

// String names the file and nothing of its content, so that a configuration in a log line reveals
// no secret.
func (c *Config) String() string { return "configuration " + c.source.Name }

// File returns the name of the file, as it was given.
func (c *Config) File() string { return c.source.Name }

// OthersMayWrite returns the mode of the file if others than its owner may change it, and with it where
// the data is sent; otherwise 0. On Windows modes do not say so.
func (c *Config) OthersMayWrite() fs.FileMode {
	info, err := os.Stat(c.source.Name)
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o022 == 0 {
		return 0
	}
	return info.Mode().Perm()
}

// StaleSecrets returns the secrets, as ${file:NAME} names them, of which the service manager's copy
// is another text than the file: only a restart of the service makes a new copy.
func (c *Config) StaleSecrets() []string { return c.stale }

// GoString returns the same as String.
func (c *Config) GoString() string { return c.String() }

// Zone returns erp.time_zone.
func (c *Config) Zone() *time.Location { return c.zone }

// LogConfig is how much `safrasync run` logs to standard error, one JSON line for each event.
type LogConfig struct {
	Level string `yaml:"level"` // error, warn, info or debug
}

// ZapLevel returns the level in the logger's form.
func (l LogConfig) ZapLevel() zapcore.Level {
	level, err := zapcore.ParseLevel(l.Level)
	if err != nil {
		return zapcore.InfoLevel
	}
	return level
}

// MetricsConfig is where the daemon serves monitoring: /metrics, /healthz and /readyz.
type MetricsConfig struct {
	Listen string `yaml:"listen"` // address and port; "" = not served
}

func (m MetricsConfig) check(d *Decoder) {
	if m.Listen == "" || d.faulty("metrics.listen") {
		return
	}
	host, port, ok := hostAndPort(m.Listen)
	if !ok {
		d.Fault("metrics.listen", "must be an address and a port, as in 127.0.0.1:9464")
		return
	}
	if host == "" {
		d.Fault("metrics.listen", "names no address; write 127.0.0.1:%s for this host alone, or 0.0.0.0:%s for every host that reaches it (nothing there is secret, and nothing asks for a password)", port, port)
	}
}

// hostAndPort splits an address to listen on. The port must be valid; the host may be "".
func hostAndPort(address string) (host, port string, ok bool) {
	host, port, err := net.SplitHostPort(address)
	_, portErr := net.LookupPort("tcp", port)
	return host, port, err == nil && portErr == nil && port != ""
}

// RetentionConfig is how long data is kept that is no longer needed; 0s = for ever. It has no key
// for what prevents a duplicate, which is kept for ever.
type RetentionConfig struct {
	Schedule string        `yaml:"schedule"` // when the daemon applies it
	Bodies   time.Duration `yaml:"bodies"`
	Audit    time.Duration `yaml:"audit"`
}

// Ledger returns the retention in the ledger's form: what is configured, and what is the same
// everywhere.
func (r RetentionConfig) Ledger() state.Retention {
	return state.Retention{
		Bodies: r.Bodies, Runs: 400 * day, IdleRuns: 30 * day, Lookups: 400 * day, Inbox: 30 * day,
		Audit: r.Audit, Journal: 256 << 20,
	}
}

// ReportConfig is from what size on a difference appears in the report.
type ReportConfig struct {
	ToleranceContract ExactNumber `yaml:"tolerance_contract"` // of deliveries beyond a contract, in per cent
}

// ExactNumber is a decimal number from the file; it is not negative.
type ExactNumber struct{ trade.Decimal }

// Tolerance returns by how much figures may differ.
func (r ReportConfig) Tolerance() reconcile.Tolerance {
	t := reconcile.DefaultTolerance()
	t.Contract = r.ToleranceContract.Decimal
	return t
}

// Decode reads a decimal number with a point.
func (n *ExactNumber) Decode(d *Decoder, e Entry) {
	text, ok := d.word(e)
	if !ok {
		return
	}
	if !decimalNumber.MatchString(text) {
		d.Fault(e.Path, "must be a number in plain digits, as in 1 or 0.01")
		return
	}
	parsed, err := trade.ParseDecimal(text)
	if err != nil {
		d.Fault(e.Path, "%w", err)
		return
	}
	n.Decimal = parsed
}
