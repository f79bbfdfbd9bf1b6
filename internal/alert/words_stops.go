package alert

// stopWords say why jobs do not move, and what to do, by the code of the stop. {job} is the first job concerned.
type stopWords struct{ why, do phrase }

var stops = map[string]stopWords{
	"api_key":         {phrase{"a plataforma recusa a chave de acesso", "the platform refuses the access key"}, phrase{"TI: renove a chave (api.api_key) e confira com `safrasync check`.", "IT: renew the key (api.api_key) and look with `safrasync check`."}},
	"api_key_inside":  {phrase{"um serviço interno da plataforma recusa a chave de acesso", "a service inside the platform refuses the access key"}, phrase{"TI: fale com o suporte da plataforma; a chave é aceita na entrada e recusada por dentro.", "IT: talk to the platform's support; the key is accepted at the door and refused inside."}},
	"api_module":      {phrase{"a cooperativa não tem contratado o módulo da plataforma que esta rotina usa", "the cooperative has not contracted the platform's module for this job"}, phrase{"Administração: fale com a plataforma sobre o módulo.", "Management: talk to the platform about the module."}},
	"api_permission":  {phrase{"a chave de acesso não tem permissão na plataforma", "the access key has no permission on the platform"}, phrase{"TI: peça à plataforma a permissão para esta chave.", "IT: ask the platform for the permission of this key."}},
	"api_address":     {phrase{"o endereço da plataforma (api.base_url) ou um proxy está errado", "the platform's address (api.base_url) or a proxy is wrong"}, phrase{"TI: confira api.base_url, proxy e firewall; `safrasync check` diz mais.", "IT: look at api.base_url, proxy and firewall; `safrasync check` says more."}},
	"api_certificate": {phrase{"o certificado da plataforma não é aceito", "the platform's certificate is not accepted"}, phrase{"TI: rode `safrasync check`; se o certificado venceu, avise o suporte da plataforma; senão confira api.ca_file e o relógio do servidor.", "IT: run `safrasync check`; if the certificate has expired, tell the platform's support; if not, look at api.ca_file and the clock of the host."}},
	"api_unreachable": {phrase{"a plataforma não responde", "the platform does not answer"}, phrase{"Nada, se for uma parada da plataforma. Se durar, a TI confere rede e firewall com `safrasync check`.", "Nothing, if the platform is down. If it lasts, IT looks at network and firewall with `safrasync check`."}},
	"api_throttled":   {phrase{"a plataforma pede para esperar (pedidos demais)", "the platform asks to wait (too many requests)"}, phrase{"Nada: o envio continua mais devagar. Se durar, a TI diminui api.rate_limit.", "Nothing: sending goes on more slowly. If it lasts, IT lowers api.rate_limit."}},
	"answers":         {phrase{"as respostas não são da plataforma: algo no caminho responde no lugar dela", "the answers are not the platform's: something on the way answers instead"}, phrase{"TI: confira proxy, firewall e api.base_url com `safrasync check`; depois rode `safrasync sync {job}`.", "IT: look at proxy, firewall and api.base_url with `safrasync check`; then run `safrasync sync {job}`."}},
	"ledger":          {phrase{"o registro local não pode ser usado", "the ledger cannot be used"}, phrase{"TI: veja espaço em disco e permissões; `safrasync doctor` diz mais.", "IT: look at disk space and rights; `safrasync doctor` says more."}},
	"erp":             {phrase{"o ERP não pôde ser lido", "the ERP could not be read"}, phrase{"TI: rode `safrasync check`: banco fora do ar, senha, permissão ou consulta.", "IT: run `safrasync check`: the database is down, or password, right or query is wrong."}},
	"columns":         {phrase{"falta na consulta uma coluna que o mapeamento usa", "the query lacks a column that the mapping uses"}, phrase{"TI: `safrasync check` diz qual coluna falta; corrija a consulta e rode `safrasync sync {job}`.", "IT: `safrasync check` names the column; correct the query and run `safrasync sync {job}`."}},
	"references":      {phrase{"o de-para lido do ERP ficou vazio ou tem um código com dois ids", "the references read from the ERP are empty, or have a code with two ids"}, phrase{"TI: confira a tabela e a consulta em references; nada foi alterado nem enviado.", "IT: look at the table and the query under references; nothing was changed or sent."}},
	"empty_sweep":     {phrase{"a varredura achou menos da metade das linhas conhecidas", "the sweep found less than half of the known rows"}, phrase{"TI: confira a visão, as permissões e o esquema no ERP e rode `safrasync sync {job} --sweep`; se o ERP tem mesmo menos linhas, `safrasync release {job} --reason TEXTO`.", "IT: look at the view, the rights and the schema in the ERP and run `safrasync sync {job} --sweep`; if the ERP has really fewer rows, `safrasync release {job} --reason TEXT`."}},
	"in_doubt":        {phrase{"vários envios seguidos ficaram sem confirmação", "several requests in a row stayed in doubt"}, phrase{"Contabilidade: procure na plataforma os que estão em `safrasync rows {job} --state in_doubt`. TI: confira a rede e depois rode `safrasync sync {job}`.", "Accounting: look on the platform for those in `safrasync rows {job} --state in_doubt`. IT: look at the network, then run `safrasync sync {job}`."}},
	"malformed":       {phrase{"a plataforma não entendeu vários pedidos seguidos", "the platform did not understand several requests in a row"}, phrase{"TI: confira o mapeamento com `safrasync preview`, corrija-o e rode `safrasync sync {job}`.", "IT: look at the mapping with `safrasync preview`, correct it and run `safrasync sync {job}`."}},
	"uneven":          {phrase{"as somas do registro local não fecham", "the sums of the ledger do not add up"}, phrase{"TI: guarde uma cópia com `safrasync backup` e avise o suporte do safrasync.", "IT: keep a copy with `safrasync backup` and tell the support of safrasync."}},

	"brake_new_rows":    {phrase{"freio: apareceram muito mais linhas novas do que o normal", "brake: far more new rows than usual showed up"}, phrase{"Contabilidade: confira no ERP se as linhas novas são verdadeiras (`safrasync status` mostra exemplos). Se forem: `safrasync release {job} --reason TEXTO`.", "Accounting: make sure in the ERP that the new rows are real (`safrasync status` shows examples). If so: `safrasync release {job} --reason TEXT`."}},
	"brake_retyped":     {phrase{"freio: há linhas novas com o conteúdo de linhas já enviadas, cuja chave sumiu do ERP", "brake: there are new rows with the content of sent ones, whose keys are gone from the ERP"}, phrase{"Contabilidade: confira no ERP se os documentos foram renumerados (`safrasync status` mostra exemplos). Depois: `safrasync release {job} --reason TEXTO`.", "Accounting: see in the ERP whether the documents were numbered anew (`safrasync status` shows examples). Then: `safrasync release {job} --reason TEXT`."}},
	"brake_changed_key": {phrase{"freio: a chave ou as tabelas da consulta mudaram, e linhas conhecidas pareceriam novas", "brake: the key or the tables of the query changed, and known rows would look new"}, phrase{"TI: corrija a configuração, ou confirme que é assim com `safrasync release {job} --reason TEXTO`.", "IT: correct the configuration, or confirm it with `safrasync release {job} --reason TEXT`."}},
}

// stopOther is a reason without words of its own.
var stopOther = stopWords{phrase{"a rotina parou", "the job stopped"}, phrase{"TI: `safrasync status` diz o motivo.", "IT: `safrasync status` says why."}}

// endedByPerson are the stops that do not end by themselves.
var endedByPerson = []string{"columns", "empty_sweep", "in_doubt", "malformed", "answers", "uneven", "brake_new_rows", "brake_retyped", "brake_changed_key"}

var (
	stopTitle    = phrase{"envio parado em %s: %s", "sending stopped in %s: %s"}
	stopHappened = counted{phrase{"A rotina %s não está enviando: %s.", "Job %s does not send: %s."}, phrase{"As rotinas %s não estão enviando: %s.", "Jobs %s do not send: %s."}}
	stopBrake    = phrase{"%s, quando o normal é %s.", "%s, where %s are usual."}
	stopMeans    = phrase{"Nada se perdeu: o que está no ERP espera.", "Nothing is lost: what is in the ERP waits."}
	stopByItself = phrase{" O envio volta sozinho quando a causa for resolvida.", " Sending goes on by itself when the cause is cured."}
	stopByPerson = phrase{" O envio só volta depois que alguém verificar.", " Sending goes on only after somebody has looked."}
	newRowsCount = counted{phrase{"%s linha nova", "%s new row"}, phrase{"%s linhas novas", "%s new rows"}}
	rowsCount    = counted{phrase{"%s linha", "%s row"}, phrase{"%s linhas", "%s rows"}}
)
