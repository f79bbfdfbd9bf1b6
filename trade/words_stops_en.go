package trade

// englishStops is the same in English.
var englishStops = map[string]Advice{
	"api_key": {
		What: "the platform refuses the access key", Who: "IT", Where: "configuration (api.api_key)", Fixer: FixIT, Again: AgainNone,
		Do: "Renew the key (api.api_key) and look with `safrasync check`.",
	},
	"api_key_inside": {
		What: "a service inside the platform refuses the access key", Who: "IT", Where: "platform (support)", Fixer: FixPlatform, Again: AgainNone,
		Do: "Talk to the platform's support; the key is accepted at the door and refused inside.",
	},
	"api_module": {
		What: "the cooperative has not contracted the platform's module for this job", Who: "Management", Where: "platform (the cooperative's contract)", Fixer: FixPlatform, Again: AgainNone,
		Do: "Talk to the platform about the module.",
	},
	"api_permission": {
		What: "the access key has no permission on the platform", Who: "IT", Where: "platform (the key's permissions)", Fixer: FixPlatform, Again: AgainNone,
		Do: "Ask the platform for the permission of this key.",
	},
	"api_address": {
		What: "the platform's address (api.base_url) or a proxy is wrong", Who: "IT", Where: "configuration (api.base_url) and network", Fixer: FixIT, Again: AgainNone,
		Do: "Look at api.base_url, proxy and firewall; `safrasync check` says more.",
	},
	"api_certificate": {
		What: "the platform's certificate is not accepted", Who: "IT", Where: "the platform's certificate, api.ca_file", Fixer: FixIT, Again: AgainNone,
		Do: "Run `safrasync check`; if the certificate has expired, tell the platform's support; if not, look at api.ca_file and the clock of the host.",
	},
	"api_unreachable": {
		What: "the platform does not answer", Who: "nobody", Where: "platform or network", Fixer: FixNobody, Again: AgainNone,
		Do: "Nothing, if the platform is down. If it lasts, IT looks at network and firewall with `safrasync check`.",
	},
	"api_throttled": {
		What: "the platform asks to wait (too many requests)", Who: "nobody", Where: "platform", Fixer: FixNobody, Again: AgainNone,
		Do: "Nothing: sending goes on more slowly. If it lasts, IT lowers api.rate_limit.",
	},
	"answers": {
		What: "the answers are not the platform's: something on the way answers instead", Who: "IT", Where: "network (proxy, firewall)", Fixer: FixIT, Again: AgainNone,
		Do: "Look at proxy, firewall and api.base_url with `safrasync check`; then run `safrasync sync {job}`.",
	},
	"ledger": {
		What: "the ledger cannot be used", Who: "IT", Where: "safrasync's host (disk, rights)", Fixer: FixIT, Again: AgainNone,
		Do: "Look at disk space and rights; `safrasync doctor` says more.",
	},
	"erp": {
		What: "the ERP could not be read", Who: "IT", Where: "the ERP's database", Fixer: FixIT, Again: AgainNone,
		Do: "Run `safrasync check`: the database is down, or password, right or query is wrong.",
	},
	"columns": {
		What: "the query lacks a column that the mapping uses", Who: "IT", Where: "configuration (the job's query)", Fixer: FixIT, Again: AgainNone,
		Do: "`safrasync check` names the column; correct the query and run `safrasync sync {job}`.",
	},
	"references": {
		What: "the references read from the ERP are empty, or have a code with two ids", Who: "IT", Where: "ERP and configuration (references)", Fixer: FixIT, Again: AgainNone,
		Do: "Look at the table and the query under references; nothing was changed or sent.",
	},
	"empty_sweep": {
		What: "the sweep found less than half of the known rows", Who: "IT", Where: "ERP (view, rights, schema)", Fixer: FixIT, Again: AgainNone,
		Do: "Look at the view, the rights and the schema in the ERP and run `safrasync sync {job} --sweep`; if the ERP has really fewer rows, `safrasync release {job} --reason TEXT`.",
	},
	"in_doubt": {
		What: "several requests in a row stayed in doubt", Who: "Accounting", Where: "platform; then the rows in doubt", Fixer: FixAccounting, Again: AgainNone,
		Do: "Look on the platform for those in `safrasync rows {job} --state in_doubt`. IT: look at the network, then run `safrasync sync {job}`.",
	},
	"refusals": {
		What: "the platform refused one row after another", Who: "Accounting or IT", Where: "ERP or mapping", Fixer: FixAccounting, Again: AgainNone,
		Do: "Look at what came back with `safrasync rows {job}`, correct the ERP, the mapping or api.base_url and run `safrasync sync {job}`.",
	},
	"malformed": {
		What: "the platform did not understand several requests in a row", Who: "IT", Where: "configuration (the job's fields)", Fixer: FixIT, Again: AgainNone,
		Do: "Look at the mapping with `safrasync preview`, correct it and run `safrasync sync {job}`.",
	},
	"platform": {
		What: "the ledger has sent to another platform than api.base_url names", Who: "IT", Where: "configuration (api.base_url, state.dsn)", Fixer: FixIT, Again: AgainNone,
		Do: "Another platform (test, then production): a ledger of its own, `safrasync state new`. The same at a new address: `safrasync state rebind --reason TEXT`.",
	},
	"uneven": {
		What: "the sums of the ledger do not add up", Who: "IT", Where: "ledger", Fixer: FixIT, Again: AgainNone,
		Do: "Keep a copy with `safrasync backup` and tell the support of safrasync.",
	},
	"brake_new_rows": {
		What: "brake: far more new rows than usual showed up", Who: "Accounting", Where: "ERP; then safrasync release", Fixer: FixAccounting, Again: AgainNone,
		Do: "Make sure in the ERP that the new rows are real (`safrasync status` shows examples). If so: `safrasync release {job} --reason TEXT`.",
	},
	"brake_retyped": {
		What: "brake: there are new rows with the content of sent ones, whose keys are gone from the ERP", Who: "Accounting", Where: "ERP; then safrasync release", Fixer: FixAccounting, Again: AgainNone,
		Do: "See in the ERP whether the documents were numbered anew (`safrasync status` shows examples). Then: `safrasync release {job} --reason TEXT`.",
	},
	"brake_changed_key": {
		What: "brake: the key or the tables of the query changed, and known rows would look new", Who: "IT", Where: "configuration (the job's key and query)", Fixer: FixIT, Again: AgainNone,
		Do: "Correct the configuration, or confirm it with `safrasync release {job} --reason TEXT`.",
	},
	"brake_new_job": {
		What: "brake: the job is new, and the ledger has rows that were sent by jobs which are gone from the configuration; or the job's `identity:` changed", Who: "IT", Where: "configuration (names of the jobs, `identity:`)", Fixer: FixIT, Again: AgainNone,
		Do: "If it is the same job under another name: `safrasync job move OLD {job} --reason TEXT`; if it is another one, or its rows are of another ERP: `safrasync release {job} --reason TEXT`. `safrasync status` shows the jobs.",
	},
	"brake_most": {
		What: "brake: what is due is more than one run may send", Who: "Accounting", Where: "ERP; then safrasync release", Fixer: FixAccounting, Again: AgainNone,
		Do: "Look at amounts and values in the ERP (`safrasync status` shows the sums). If they are right, a second person releases them: `safrasync release {job} --reason TEXT`.",
	},
	"brake_canary": {
		What: "brake: the first rows under the new mapping have gone, and wait to be looked at", Who: "Accounting", Where: "platform; then safrasync release", Fixer: FixAccounting, Again: AgainNone,
		Do: "Look on the platform at the rows that `safrasync status` shows. If they are right: `safrasync release {job} --reason TEXT`.",
	},
	"lease": {
		What: "another process took the job over", Who: "nobody", Where: "host", Fixer: FixNobody, Again: AgainNone,
		Do: "Nothing: the other process goes on.",
	},
	"paused": {
		What: "a person paused the job", Who: "accounting or IT", Where: "safrasync", Fixer: FixAccounting, Again: AgainNone,
		Do: "`safrasync resume {job} --reason TEXT` resumes it; who paused it left a note (`safrasync status`).",
	},
	"interrupted": {
		What: "the run was interrupted", Who: "nobody", Where: "host", Fixer: FixNobody, Again: AgainNone,
		Do: "Nothing: the rest goes with the next run.",
	},
	"process_gone": {
		What: "the process that ran the job is gone", Who: "nobody", Where: "host", Fixer: FixNobody, Again: AgainNone,
		Do: "Nothing: the next run finds out what became of the rows that were on the wire.",
	},
	"": {What: "the job stopped", Who: "IT", Where: "safrasync", Fixer: FixIT, Again: AgainNone, Do: "`safrasync status` says why."},
}
