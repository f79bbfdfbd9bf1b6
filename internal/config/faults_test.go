package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
)

// Each case makes one edit in goodConfig. want is the message without the excerpts: place, key,
// what is wrong, what to do.
func TestF164AWrongConfigurationIsToldWithItsPlace(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, old, edit, want string }{
		{
			name: "an unknown key with a suggestion",
			old:  "    key: [filial, num]",
			edit: `    key: [filial, num]
    chaged_at: x`,
			want: "config.yaml:12:5: jobs.contracts: unknown key `chaged_at`; did you mean `changed_at`?",
		},
		{
			name: "hours that are none",
			old:  "    key: [filial, num]",
			edit: `    key: [filial, num]
    hours: [mon-fri 07:00-19:00, weekends 08:00-12:00]`,
			want: "config.yaml:12:5: jobs.contracts.hours: \"weekends 08:00-12:00\" names a day that is none: they are mon, tue, wed, thu, fri, sat and sun",
		},
		{
			name: "a title that fits into no heading",
			old:  "    key: [filial, num]",
			edit: `    key: [filial, num]
    title: ` + strings.Repeat("x", 61),
			want: "config.yaml:12:12: jobs.contracts.title: is a title of one line and at most 60 characters",
		},
		{
			name: "a label that nobody can read",
			old:  "    key: [filial, num]",
			edit: `    key: [filial, num]
    show: {"a\u200bb": nome}`,
			want: "config.yaml:12:12: jobs.contracts.show: a label has only characters that people see",
		},
		{
			name: "columns without labels",
			old:  "    key: [filial, num]",
			edit: `    key: [filial, num]
    show: [num, nome]`,
			want: "config.yaml:12:5: jobs.contracts.show: must be a map from labels to columns of the query, as in {contrato: num, produtor: nome}",
		},
		{
			name: "more labels than fit",
			old:  "    key: [filial, num]",
			edit: `    key: [filial, num]
    show: {a: a, b: b, c: c, d: d, e: e, f: f, g: g, h: h, i: i}`,
			want: "config.yaml:12:5: jobs.contracts.show: has 9 labels, at most 8 fit",
		},
		{
			name: "a most that limits nothing",
			old:  "    key: [filial, num]",
			edit: `    key: [filial, num]
    most: {rows: 0}`,
			want: "config.yaml:12:5: jobs.contracts.most: limits nothing; give it rows, a volume or a value, or delete it",
		},
		{
			name: "a volume without a unit",
			old:  "    key: [filial, num]",
			edit: `    key: [filial, num]
    most: {volume: "12000"}`,
			want: "config.yaml:12:20: jobs.contracts.most.volume: \"12000\" is no volume: write an amount above zero and its unit, as in 12000 TON, 200000 SC or 500000 KG",
		},
		{
			name: "a currency that the platform does not have",
			old:  "    key: [filial, num]",
			edit: `    key: [filial, num]
    most: {value: {ARS: 5}}`,
			want: "config.yaml:12:25: jobs.contracts.most.value.ARS: unknown currency `ARS`; there are BRL, USD, EUR",
		},
		{
			name: "a sum with a thousands point",
			old:  "    key: [filial, num]",
			edit: `    key: [filial, num]
    most: {value: {BRL: 5.000.000}}`,
			want: "config.yaml:12:25: jobs.contracts.most.value.BRL: must be a sum above zero in plain digits, as in 5000000 or 750000.50",
		},
		{
			name: "a canary beyond all measure",
			old:  "    key: [filial, num]",
			edit: `    key: [filial, num]
    canary: 1001`,
			want: "config.yaml:12:13: jobs.contracts.canary: must be from 0 to 1000",
		},
		{
			name: "metrics without a port",
			old:  "jobs:",
			edit: `metrics: {listen: 127.0.0.1}
jobs:`,
			want: "config.yaml:7:19: metrics.listen: must be an address and a port, as in 127.0.0.1:9464",
		},
		{
			name: "metrics for everybody by accident",
			old:  "jobs:",
			edit: `metrics: {listen: ":9464"}
jobs:`,
			want: "config.yaml:7:19: metrics.listen: names no address; write 127.0.0.1:9464 for this host alone, or 0.0.0.0:9464 for every host that reaches it (nothing there is secret, and nothing asks for a password)",
		},
		{
			name: "a misspelled required key is told once",
			old:  "  api_key:",
			edit: "  apikey:",
			want: "config.yaml:3:3: api: unknown key `apikey`; did you mean `api_key`?",
		},
		{
			name: "an unknown key without a suggestion",
			old:  "  driver: postgres",
			edit: `  driver: postgres
  collation: WIN1252`,
			want: "config.yaml:6:3: erp: unknown key `collation`; there are driver, dsn, charset, time_zone, statement_timeout",
		},
		{
			name: "an unknown charset",
			old:  "  driver: postgres",
			edit: `  driver: postgres
  charset: EBCDIC`,
			want: "config.yaml:6:12: erp.charset: is not known; use UTF8, WIN1252, LATIN1, LATIN9, CP850 or CP437",
		},
		{
			name: "a key of a later version at the top",
			old:  "jobs:",
			edit: `federation: {}
jobs:`,
			want: "config.yaml:7:1: unknown key `federation`; there are api, erp, state, references, values, with, checks, brakes, approve, retention, log, alerts, console, metrics, webhooks, http_api, language, report, jobs",
		},
		{
			name: "the harvest spelled as in the dictionary",
			old:  "haverst: safra",
			edit: "harvest: safra",
			want: "config.yaml:18:7: jobs.contracts.fields: unknown field `harvest`; did you mean `haverst`?",
		},
		{
			name: "a field of another kind of record",
			old:  "haverst: safra",
			edit: `haverst: safra
      car: car`,
			want: "config.yaml:19:7: jobs.contracts.fields: unknown field `car`; there are amount, producer_id, issuer_id, product, delivery_place_id, haverst, unit_of_measurement, order_type, order_date, wallet_id, currency, price, initial_delivery_date, end_delivery_date, modality, payday, payment_type",
		},
		{
			name: "an unknown key of a field",
			old:  "haverst: safra",
			edit: "haverst: {column: safra, upper: x}",
			want: "config.yaml:18:32: jobs.contracts.fields.haverst: unknown key `upper`; there are column, const, values, default, date, number, empty, scale, ref, sent_by, lookup, per, in",
		},
		{
			name: "a duplicate key",
			old:  "  driver: postgres",
			edit: `  driver: postgres
  driver: sqlite`,
			want: "config.yaml:6:3: erp: the key `driver` stands here a second time; the first is in line 5",
		},
		{
			name: "a duplicate key in other clothes",
			old:  `{"001": SOJA}`,
			edit: `{"001": SOJA, 001: MILHO}`,
			want: "config.yaml:16:56: jobs.contracts.fields.product.values: the key `001` stands here a second time; the first is in line 16",
		},
		{
			name: "a tab for indentation",
			old:  "  driver: postgres",
			edit: "\tdriver: postgres",
			want: `config.yaml:5:1: found character '\t' that cannot start any token; indent with blanks, not with tabs`,
		},
		{
			name: "a list where a map belongs",
			old:  "api:",
			edit: `checks: [a]
api:`,
			want: "config.yaml:1:1: checks: must be a map of keys and values",
		},
		{
			name: "a map where a value belongs",
			old: `postgres
`,
			edit: `{a: b}
`,
			want: "config.yaml:5:3: erp.driver: must be one value, not a list or a map",
		},
		{
			name: "a text where a number belongs",
			old:  "  api_key",
			edit: `  max_in_flight: many
  api_key`,
			want: "config.yaml:3:18: api.max_in_flight: must be a whole number in plain digits, as in 8",
		},
		{
			name: "an octal number",
			old:  "  api_key",
			edit: `  max_in_flight: 010
  api_key`,
			want: "config.yaml:3:18: api.max_in_flight: must be a whole number in plain digits, as in 8",
		},
		{
			name: "a number in quotes",
			old:  "  api_key",
			edit: `  max_in_flight: "8"
  api_key`,
			want: "config.yaml:3:18: api.max_in_flight: must be a whole number in plain digits, as in 8",
		},
		{
			name: "a number out of its range",
			old:  "  api_key",
			edit: `  max_in_flight: 0
  api_key`,
			want: "config.yaml:3:18: api.max_in_flight: must be from 1 to 256",
		},
		{
			name: "a rate that is no number",
			old:  "  api_key",
			edit: `  rate_limit: .inf
  api_key`,
			want: "config.yaml:3:15: api.rate_limit: must be a number in plain digits, as in 20 or 0.5",
		},
		{
			name: "a time without a unit",
			old:  "  api_key",
			edit: `  timeout: 120
  api_key`,
			want: "config.yaml:3:12: api.timeout: must be a time with its unit, as in 90s, 15m, 2h or 1d",
		},
		{
			name: "a time out of its range",
			old:  "  api_key",
			edit: `  timeout: 1h
  api_key`,
			want: "config.yaml:3:12: api.timeout: must be from 1s to 10m",
		},
		{
			name: "a quarantine that is too short",
			old:  "  api_key",
			edit: `  quarantine: 4m
  api_key`,
			want: "config.yaml:3:15: api.quarantine: must be at least 4m40s: twice api.timeout and 40 s",
		},
		{
			name: "a word that is not allowed",
			old:  "  api_key",
			edit: `  doubt: maybe
  api_key`,
			want: "config.yaml:3:10: api.doubt: must be documented or strict",
		},
		{
			name: "the boolean NO for a language",
			old:  "jobs:",
			edit: `language: NO
jobs:`,
			want: "config.yaml:7:11: language: must be pt-BR or en",
		},
		{
			name: "no way to treat equal rows, at a job",
			old:  "  contracts:",
			edit: "  contracts:\n    checks: {twin: keep, near_twin: keep, twin_days: 4000}",
			want: "config.yaml:9:20: jobs.contracts.checks.twin: must be hold, warn or off\n" +
				"config.yaml:9:37: jobs.contracts.checks.near_twin: must be hold, warn or off\n" +
				"config.yaml:9:54: jobs.contracts.checks.twin_days: must be from 0 to 3650",
		},
		{
			name: "snippets that cannot be used",
			old:  "jobs:",
			edit: `with: {"a-b": SELECT 1, industria: SELECT 1, x: "SELECT 1; SELECT 2"}
jobs:`,
			want: "config.yaml:7:15: with.a-b: is used like a table: letters, digits and _, beginning with a letter, at most 30 characters\n" +
				"config.yaml:7:36: with.industria: is in no FROM or JOIN of a query of jobs, references or later snippets; is its name misspelled there?\n" +
				"config.yaml:7:60: with.x: the query cannot be read: a second statement follows the semicolon; only one query is allowed",
		},
		{
			name: "a price that is converted wrongly",
			old:  "      wallet_id:",
			edit: `      price: {column: preco, per: {column: por, values: {S: SACA}}, in: unit_of_measure}
      wallet_id:`,
			want: "config.yaml:22:61: jobs.contracts.fields.price.per.values.S: must be SC, KG or TON\n" +
				"config.yaml:22:73: jobs.contracts.fields.price.in: unknown field with a unit `unit_of_measure`; did you mean `unit_of_measurement`?",
		},
		{
			name: "half a conversion, and one of no price",
			old:  "      wallet_id: {",
			edit: `      price: {column: preco, per: por}
      payday: {column: p, per: por, in: unit_of_measurement}
      wallet_id: {`,
			want: "config.yaml:22:7: jobs.contracts.fields.price: per and in belong together: the unit for which the ERP has the price, and the field with the unit of the record\n" +
				"config.yaml:23:7: jobs.contracts.fields.payday: payday is no price for a unit: per and in do not apply",
		},
		{
			name: "constant parts of a code",
			old:  "{column: carteira, ref: wallets}",
			edit: `{column: [carteira, {const: 0}, {cons: "0"}, =0], ref: wallets}`,
			want: "config.yaml:22:51: jobs.contracts.fields.wallet_id.column[2]: unknown key `cons`; did you mean `const`?\n" +
				"config.yaml:22:63: jobs.contracts.fields.wallet_id.column[3]: is no column; a constant part of the code is written as in {const: \"0\"}",
		},
		{
			name: "a check that does not exist yet",
			old:  "jobs:",
			edit: `checks: {weight: warn}
jobs:`,
			want: "config.yaml:7:10: checks: unknown key `weight`; there are amount, price, volume, date_order, date_window, car, twin, near_twin, twin_days",
		},
		{
			name: "a severity that does not exist",
			old:  "jobs:",
			edit: `checks: {amount: no}
jobs:`,
			want: "config.yaml:7:18: checks.amount: must be error, warn or off",
		},
		{
			name: "an address without encryption",
			old:  "https://api.example.com/",
			edit: "http://api.example.com/",
			want: "config.yaml:2:13: api.base_url: must begin with https://; http:// is for this host only (127.0.0.1, ::1, localhost)",
		},
		{
			name: "an address with a password",
			old:  "https://api.example.com/",
			edit: "https://a:b@api.example.com/",
			want: "config.yaml:2:13: api.base_url: must not hold a user or password; the key belongs in api.api_key",
		},
		{
			name: "an address with a query",
			old:  "https://api.example.com/",
			edit: "https://api.example.com/?a=b",
			want: "config.yaml:2:13: api.base_url: must not have a query (?…)",
		},
		{
			name: "a key in clear",
			old:  "${env:KEY}",
			edit: "abc",
			want: "config.yaml:3:12: api.api_key: must not stand in the file: write ${env:SAFRASYNC_API_KEY} or ${file:/path/to/key} (and change a key that others have seen)",
		},
		{
			name: "a key that no header can carry",
			old:  "${env:KEY}",
			edit: "${env:BAD_HEADER}",
			want: "config.yaml:3:12: api.api_key: resolves to a text with blanks at its ends or characters that a header cannot carry; look at where the reference points",
		},
		{
			name: "a variable that is not set",
			old:  "${env:KEY}",
			edit: "${env:MISSING}",
			want: "config.yaml:3:12: api.api_key: the environment variable MISSING is not set",
		},
		{
			name: "a variable that is blank",
			old:  "${env:KEY}",
			edit: "${env:BLANK}",
			want: "config.yaml:3:12: api.api_key: the environment variable BLANK is empty",
		},
		{
			name: "a secret of two lines",
			old:  "${env:KEY}",
			edit: "${env:TWO_LINES}",
			want: "config.yaml:3:12: api.api_key: has more than one line after its references were replaced; a secret is one line",
		},
		{
			name: "a secret file that is not there",
			old:  "${env:KEY}",
			edit: "${file:/nowhere/key}",
			want: "config.yaml:3:12: api.api_key: the file /nowhere/key cannot be read: no such file or directory",
		},
		{
			name: "a password in clear",
			old:  "${env:DSN}",
			edit: "postgres://u:p@h/d",
			want: "config.yaml:6:8: erp.dsn: must not hold a password in clear: put the whole DSN into a variable or file, ${env:NAME} or ${file:PATH}, or only the password, as in postgres://user:${env:NAME}@host/database (and change a password that others have seen)",
		},
		{
			name: "a required key without a value",
			old:  "${env:DSN}",
			edit: "",
			want: "config.yaml:6:3: erp.dsn: is empty; give it a value or delete the line",
		},
		{
			name: "an unknown driver",
			old:  "driver: postgres",
			edit: "driver: db2",
			want: "config.yaml:5:11: erp.driver: must be firebird, mysql, oracle, postgres, sqlite or sqlserver",
		},
		{
			name: "an unknown time zone",
			old:  "driver: postgres",
			edit: `driver: postgres
  time_zone: Brazil/Sampa`,
			want: "config.yaml:6:14: erp.time_zone: is not a time zone; give one as in America/Sao_Paulo or America/Cuiaba",
		},
		{
			name: "a ledger on PostgreSQL without a DSN",
			old:  "jobs:",
			edit: `state: {driver: postgres}
jobs:`,
			want: "config.yaml:7:1: state.dsn: is required and missing\nconfig.yaml:7:1: state.journal: is required and missing",
		},
		{
			name: "C4: a ledger whose path leads elsewhere from another folder",
			old:  "jobs:",
			edit: `state: {dsn: ./state.db}
jobs:`,
			want: "config.yaml:7:14: state.dsn: ./state.db is no absolute path: from another folder it would name another ledger; give the whole path, like /var/lib/safrasync/state.db",
		},
		{
			name: "C4: the same from the environment",
			old:  "jobs:",
			edit: `state: {dsn: "${env:DSN}"}
jobs:`,
			want: "config.yaml:7:14: state.dsn: ${env:DSN} is no absolute path: from another folder it would name another ledger; give the whole path, like /var/lib/safrasync/state.db",
		},
		{
			name: "C4: a journal whose path leads elsewhere from another folder",
			old:  "jobs:",
			edit: `state: {dsn: /var/lib/safrasync/state.db, journal: journal}
jobs:`,
			want: "config.yaml:7:52: state.journal: journal is no absolute path: from another folder it would name another ledger; give the whole path, like /var/lib/safrasync/state.db",
		},
		{
			name: "C4: the same beside PostgreSQL",
			old:  "jobs:",
			edit: `state: {driver: postgres, dsn: "postgres:///ledger", journal: ../journal}
jobs:`,
			want: "config.yaml:7:63: state.journal: ../journal is no absolute path: from another folder it would name another ledger; give the whole path, like /var/lib/safrasync/state.db",
		},
		{
			name: "a certificate file that is not there",
			old:  "  api_key",
			edit: `  ca_file: /nowhere/ca.pem
  api_key`,
			want: "config.yaml:3:12: api.ca_file: cannot be read: no such file or directory",
		},
		{
			name: "a proxy without its scheme",
			old:  "  api_key",
			edit: `  proxy: proxy.example.com:3128
  api_key`,
			want: "config.yaml:3:10: api.proxy: must have a scheme, a host and a port, as in http://proxy.example.com:3128",
		},
		{
			name: "a password of a proxy in the file",
			old:  "  api_key",
			edit: `  proxy: "http://coop:hunter2@proxy.example.com:3128"
  api_key`,
			want: "config.yaml:3:10: api.proxy: has a user and password, which must not stand in the file: " +
				"write the address, or the password in it, as ${env:NAME} or ${file:PATH}",
		},
		{
			name: "a reference outside of its sections",
			old:  "haverst: safra",
			edit: `haverst: {const: "${env:KEY}"}`,
			want: "config.yaml:18:24: jobs.contracts.fields.haverst.const: ${env:…} and ${file:…} are read under api, erp, state, alerts, webhooks, http_api, report and console.oidc only",
		},
		{
			name: "an unknown kind of reference",
			old:  "jobs:",
			edit: `references: {wallet: {query: q, code: c, id: i}}
jobs:`,
			want: "config.yaml:7:14: references: unknown kind of reference `wallet`; did you mean `wallets`?",
		},
		{
			name: "a reference without its columns",
			old:  "jobs:",
			edit: `references:
  wallets: {query: SELECT 1}
jobs:`,
			want: `config.yaml:8:3: references.wallets.code: is required and missing
config.yaml:8:3: references.wallets.id: is required and missing`,
		},
		{
			name: "a name that cannot be typed",
			old:  "  contracts:",
			edit: "  contracts.2026:",
			want: "config.yaml:8:3: jobs: the name `contracts.2026` may have only letters, digits, - and _, and begins with a letter",
		},
		{
			name: "a kind that this version cannot send",
			old:  "sends: order_commitments",
			edit: "sends: invoices",
			want: "config.yaml:9:12: jobs.contracts.sends: `invoices` is not what this version can send; it sends order_commitments, deliveries, traceability",
		},
		{
			name: "a schedule that is none",
			old:  "    query",
			edit: `    schedule: every day
    query`,
			want: `config.yaml:10:15: jobs.contracts.schedule: "every day" is not a schedule: it needs 5 fields (minute, hour, day, month, weekday), and has 2`,
		},
		{
			name: "a schedule that never comes",
			old:  "    query",
			edit: `    sweep: 0 0 31 2 *
    query`,
			want: `config.yaml:10:12: jobs.contracts.sweep: "0 0 31 2 *" never comes: there is no such day`,
		},
		{
			name: "a schedule that is only a zone",
			old:  "    query",
			edit: `    sweep: CRON_TZ=America/Sao_Paulo
    query`,
			want: `config.yaml:10:12: jobs.contracts.sweep: "CRON_TZ=America/Sao_Paulo" is not a schedule: it needs 5 fields (minute, hour, day, month, weekday), and has 0`,
		},
		{
			name: "a schedule without quotes",
			old:  "    query",
			edit: `    schedule: */10 * * * *
    query`,
			want: `config.yaml:10:15: aliases (*) are not read here; a text that begins with * needs quotes, as in "*/10 * * * *"`,
		},
		{
			name: "a query that is missing",
			old: `    query: SELECT * FROM c
`,
			edit: "",
			want: "config.yaml:8:3: jobs.contracts.query: is required and missing",
		},
		{
			name: "a key column twice",
			old:  "[filial, num]",
			edit: "[filial, filial]",
			want: "config.yaml:11:19: jobs.contracts.key[1]: `filial` is named twice",
		},
		{
			name: "a cancelled without values",
			old:  "    query",
			edit: `    cancelled: {column: s}
    query`,
			want: "config.yaml:10:5: jobs.contracts.cancelled.values: is required and missing",
		},
		{
			name: "cancelled values that are no list",
			old:  "    query",
			edit: `    cancelled: {column: s, values: x}
    query`,
			want: "config.yaml:10:36: jobs.contracts.cancelled.values: must be a list with at least one value, as in [a, b]",
		},
		{
			name: "required fields that are not mapped",
			old: `      haverst: safra
`,
			edit: "",
			want: "config.yaml:12:5: jobs.contracts.fields.haverst: is required for every record and is not mapped",
		},
		{
			name: "a column and a const",
			old:  "haverst: safra",
			edit: "haverst: {column: a, const: b}",
			want: "config.yaml:18:7: jobs.contracts.fields.haverst: has a column and a const; give one of them",
		},
		{
			name: "neither a column nor a const",
			old:  "haverst: safra",
			edit: "haverst: {default: b}",
			want: "config.yaml:18:7: jobs.contracts.fields.haverst: needs a column or a const",
		},
		{
			name: "a const with more",
			old:  "haverst: safra",
			edit: "haverst: {const: b, empty: [x]}",
			want: "config.yaml:18:7: jobs.contracts.fields.haverst: has a const, which is sent as it is; the other keys say nothing beside it",
		},
		{
			name: "several columns without a ref",
			old:  "haverst: safra",
			edit: "haverst: {column: [a, b]}",
			want: "config.yaml:18:17: jobs.contracts.fields.haverst.column: several columns make a code, which needs a ref or a sent_by; join texts in the query instead",
		},
		{
			name: "an unknown de-para kind",
			old:  "{column: usuario, ref: users}",
			edit: "{column: usuario, ref: user}",
			want: "config.yaml:15:41: jobs.contracts.fields.issuer_id.ref: unknown kind of reference `user`; did you mean `users`?",
		},
		{
			name: "a ref for a field that is no id",
			old:  "haverst: safra",
			edit: "haverst: {column: a, ref: users}",
			want: "config.yaml:18:33: jobs.contracts.fields.haverst.ref: gives an id of the platform, and haverst is none",
		},
		{
			name: "a map that does not exist",
			old:  "haverst: safra",
			edit: "haverst: {column: a, values: safras}",
			want: "config.yaml:18:36: jobs.contracts.fields.haverst.values: unknown map `safras`; there is none yet (maps stand under values:)",
		},
		{
			name: "a map to a value that the API does not know",
			old:  `{"001": SOJA}`,
			edit: `{"001": SOYA}`,
			want: "config.yaml:16:50: jobs.contracts.fields.product.values.001: product takes SOJA, TRIGO, MILHO",
		},
		{
			name: "a const that the API does not know",
			old:  "{const: SC}",
			edit: "{const: sc}",
			want: "config.yaml:19:36: jobs.contracts.fields.unit_of_measurement.const: unit_of_measurement takes SC, KG, TON",
		},
		{
			name: "a scale out of its range",
			old:  "amount: quantidade",
			edit: "amount: {column: q, scale: 13}",
			want: "config.yaml:13:34: jobs.contracts.fields.amount.scale: give 0 to 12 digits",
		},
		{
			name: "a way to write dates that nobody knows",
			old:  "order_date: emissao",
			edit: "order_date: {column: e, date: DD/MM/YY}",
			want: `config.yaml:21:37: jobs.contracts.fields.order_date.date: "DD/MM/YY" needs YYYY, MM and DD once each, as in YYYYMMDD or DD/MM/YYYY`,
		},
		{
			name: "a way to write numbers that nobody knows",
			old:  "amount: quantidade",
			edit: `amount: {column: q, number: "1,5"}`,
			want: `config.yaml:13:35: jobs.contracts.fields.amount.number: "1,5" is no way to write numbers; give one of "1.234,56", "1234,56", "1,234.56", "1234.56"`,
		},
		{
			name: "an empty list",
			old:  "haverst: safra",
			edit: "haverst: {column: s, empty: []}",
			want: "config.yaml:18:28: jobs.contracts.fields.haverst.empty: must be a list with at least one value, as in [a, b]",
		},
		{
			name: "an anchor and an alias",
			old:  "key: [filial, num]",
			edit: `key: &k [filial, num]
    changed_at: *k`,
			want: `config.yaml:11:10: anchors (&) are not read here: name the map under values: instead; a text that begins with & needs quotes
config.yaml:12:17: aliases (*) are not read here; a text that begins with * needs quotes, as in "*/10 * * * *"`,
		},
		{
			name: "a merge key",
			old:  "jobs:",
			edit: `values: {a: {<<: {b: c}}}
jobs:`,
			want: "config.yaml:7:14: merge keys (<<) are not read here: write the keys out",
		},
		{
			name: "a tag",
			old:  "key: [filial, num]",
			edit: "key: !!seq [filial, num]",
			want: "config.yaml:11:10: tags (!) are not read here; a text that begins with ! needs quotes",
		},
		{
			name: "a second document",
			old:  "jobs:",
			edit: `---
jobs:`,
			want: "config.yaml:8:5: only one document may stand in the file; delete the line --- and what follows",
		},
		{
			name: "an unclosed quote",
			old:  "driver: postgres",
			edit: `driver: "postgres`,
			want: "config.yaml:5:11: the quote that begins here has no end in its line; the next one, in line 16, ends it",
		},
		{
			name: "a control character",
			old:  "driver: postgres",
			edit: "driver: post\agres",
			want: "config.yaml:5:15: has the invisible character U+0007 here; delete it",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, problem := loadText(t, edited(t, tt.old, tt.edit))
			if c != nil {
				t.Fatal("it loads")
			}
			if diff := cmp.Diff(tt.want, withoutExcerpts(problem)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func withoutExcerpts(problem string) string {
	var out []string
	for line := range strings.SplitSeq(problem, "\n") {
		if !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, ">") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

func TestAllFaultsOfAFileAreToldAtOnceInItsOrder(t *testing.T) {
	t.Parallel()
	text := edited(t, "haverst: safra", "harvest: safra\n      price: {column: preco, scale: two}")
	text = strings.NewReplacer("${env:KEY}", "${env:NONE}", "  driver: postgres\n", "", "{const: SC}",
		"{const: SACA}").Replace(text)
	_, problem := loadText(t, text)
	want := `config.yaml:3:12: api.api_key: the environment variable NONE is not set
     2 |   base_url: https://api.example.com/
>    3 |   api_key: ${env:NONE}
                    ^
config.yaml:4:1: erp.driver: is required and missing
     3 |   api_key: ${env:NONE}
>    4 | erp:
         ^
config.yaml:17:7: jobs.contracts.fields: unknown field 'harvest'; did you mean 'haverst'?
    16 |       delivery_place_id: local_uuid
>   17 |       harvest: safra
               ^
config.yaml:18:37: jobs.contracts.fields.price.scale: must be a whole number in plain digits, as in 8
    17 |       harvest: safra
>   18 |       price: {column: preco, scale: two}
                                             ^
config.yaml:19:36: jobs.contracts.fields.unit_of_measurement.const: unit_of_measurement takes SC, KG, TON
    18 |       price: {column: preco, scale: two}
>   19 |       unit_of_measurement: {const: SACA}
                                            ^`
	if diff := cmp.Diff(want, strings.ReplaceAll(problem, "`", "'")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAnExcerptOfALongLineShowsThePlace(t *testing.T) {
	t.Parallel()
	text := edited(t, "{const: SC}", "{column: 'ção"+strings.Repeat("x", 300)+"', ref: wolves, empty: [a]}")
	text = strings.Replace(text, "unit_of_measurement", "issuer_id", 1)
	text = strings.Replace(text, "      issuer_id: {column: usuario, ref: users}\n", "", 1)
	_, problem := loadText(t, text)
	lines := strings.Split(problem, "\n")
	at := slices.IndexFunc(lines, func(line string) bool {
		return strings.Contains(line, "wolves") && strings.HasPrefix(line, ">")
	})
	if at < 0 {
		t.Fatalf("the place is not seen:\n%s", problem)
	}
	excerpt, caret := []rune(lines[at]), []rune(lines[at+1])
	if len(excerpt) > 140 || !strings.HasPrefix(string(excerpt[len(caret)-1:]), "wolves") {
		t.Errorf("the caret is not under the word:\n%s", problem)
	}
}

// F164: what is no configuration at all, or made to hurt, is refused before it costs anything.
func TestF164BombsAndStrangeFilesAreRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"nothing": {"", "config.yaml: is empty; start from config.example.yaml, which explains every key"},
		"only comments": {
			"# x\n---\n# y\n",
			"config.yaml: is empty; start from config.example.yaml, which explains every key",
		},
		"a word": {"safrasync", "config.yaml:1:1: must be a map of keys and values"},
		"not UTF-8": {
			"api:\n  base_url: \xe7\n",
			"config.yaml:2:13: is not UTF-8 from here on; save the file as UTF-8",
		},
		"UTF-16": {"a\x00p\x00i\x00", "config.yaml:1:2: has the invisible character U+0000 here; delete it"},
		"brackets": {
			strings.Repeat("[", 500_000),
			"config.yaml: has more than 60000 words and signs; keep large de-para tables in the ledger (safrasync refs import)",
		},
		"some brackets": {
			strings.Repeat("[", 50_000),
			"config.yaml:1:21: more than 20 levels in one another are no configuration",
		},
		"braces": {
			strings.Repeat("{a: ", 15_000),
			"config.yaml:1:81: more than 20 levels in one another are no configuration",
		},
		"dashes": {
			strings.Repeat("- ", 50_000),
			"config.yaml:1:41: more than 20 levels in one another are no configuration",
		},
		"questions": {
			strings.Repeat("? ", 50_000),
			"config.yaml:1:1: keys that begin with ? are not read here; a text that begins with ? needs quotes",
		},
		"too many words": {
			strings.Repeat("a: b\n", 100_000),
			"config.yaml: has more than 60000 words and signs; keep large de-para tables in the ledger (safrasync refs import)",
		},
		"too large": {
			strings.Repeat("#", 1<<20+1),
			"config.yaml: is larger than 1 MiB; keep large de-para tables in the ledger (safrasync refs import)",
		},
		"a billion laughs": {
			"a: &a [x, x]\nb: &b [*a, *a]\n",
			"config.yaml:1:4: anchors (&) are not read here: name the map under values: instead; a text that begins with & needs quotes\n" +
				"config.yaml:2:4: anchors (&) are not read here: name the map under values: instead; a text that begins with & needs quotes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, problem := loadText(t, tt.text)
			if got, _, _ := strings.Cut(withoutExcerpts(problem), "\nconfig.yaml: "); c != nil || got != tt.want {
				t.Errorf("got %.400s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestAFileThatCannotBeReadIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(dir, "none.yaml"): "cannot be read: no such file or directory",
		dir:                             "cannot be read: is a directory",
	} {
		if _, err := Load(path, os.LookupEnv); err == nil || err.Error() != path+": "+want {
			t.Errorf("got %v, want %s: %s", err, path, want)
		}
	}
}

// FuzzLoadConfig: no bytes make the loader panic or tell a secret, and what loads can be shown and
// loaded again.
func FuzzLoadConfig(f *testing.F) {
	f.Add([]byte(goodConfig))
	for _, name := range []string{
		"../../config.example.yaml", "../../docs/examples/modern.yaml",
		"../../docs/examples/protheus.yaml", "../../docs/examples/firebird.yaml", "../../docs/examples/mariadb.yaml",
	} {
		raw := must.Get(os.ReadFile(name))(f)
		f.Add([]byte(strings.NewReplacer("SAFRASYNC_API_KEY", "KEY", "SAFRASYNC_ERP_DSN", "DSN",
			"${env:SAFRASYNC_BASE_URL}", "https://h", "SAFRASYNC_STATE", "DSN").Replace(string(raw))))
	}
	for _, text := range []string{
		"a: &a [*a]", "a: 'b", "- - -", "? a", "a: |\n b\n", "\xff", "api: {api_key: x}", "%YAML 1.2\n---\n",
		"a: !!binary x", "{a: 1, a: 2}", `a: "\u12"`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, problem := loadText(t, string(raw))
		if strings.Contains(problem, canaryKey) || strings.Contains(problem, "canary-password") {
			t.Fatalf("the message tells a secret: %s", problem)
		}
		if c != nil {
			checkShow(t, c)
		}
	})
}
