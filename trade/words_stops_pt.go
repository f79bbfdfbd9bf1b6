package trade

// portugueseStops say why a job does not move, and what to do, by the code of the stop. {job} is the first job concerned; the empty code is a stop without words of its own.
var portugueseStops = map[string]Advice{
	"api_key": {
		What: "a plataforma recusa a chave de acesso", Who: "TI", Where: "configuração (api.api_key)", Fixer: FixIT, Again: AgainNone,
		Do: "Renove a chave (api.api_key) e confira com `safrasync check`.",
	},
	"api_key_inside": {
		What: "um serviço interno da plataforma recusa a chave de acesso", Who: "TI", Where: "plataforma (suporte)", Fixer: FixPlatform, Again: AgainNone,
		Do: "Fale com o suporte da plataforma; a chave é aceita na entrada e recusada por dentro.",
	},
	"api_module": {
		What: "a cooperativa não tem contratado o módulo da plataforma que esta rotina usa", Who: "Administração", Where: "plataforma (contrato da cooperativa)", Fixer: FixPlatform, Again: AgainNone,
		Do: "Fale com a plataforma sobre o módulo.",
	},
	"api_permission": {
		What: "a chave de acesso não tem permissão na plataforma", Who: "TI", Where: "plataforma (permissões da chave)", Fixer: FixPlatform, Again: AgainNone,
		Do: "Peça à plataforma a permissão para esta chave.",
	},
	"api_address": {
		What: "o endereço da plataforma (api.base_url) ou um proxy está errado", Who: "TI", Where: "configuração (api.base_url) e rede", Fixer: FixIT, Again: AgainNone,
		Do: "Confira api.base_url, proxy e firewall; `safrasync check` diz mais.",
	},
	"api_certificate": {
		What: "o certificado da plataforma não é aceito", Who: "TI", Where: "certificado da plataforma, api.ca_file", Fixer: FixIT, Again: AgainNone,
		Do: "Rode `safrasync check`; se o certificado venceu, avise o suporte da plataforma; senão confira api.ca_file e o relógio do servidor.",
	},
	"api_unreachable": {
		What: "a plataforma não responde", Who: "ninguém", Where: "plataforma ou rede", Fixer: FixNobody, Again: AgainNone,
		Do: "Nada, se for uma parada da plataforma. Se durar, a TI confere rede e firewall com `safrasync check`.",
	},
	"api_throttled": {
		What: "a plataforma pede para esperar (pedidos demais)", Who: "ninguém", Where: "plataforma", Fixer: FixNobody, Again: AgainNone,
		Do: "Nada: o envio continua mais devagar. Se durar, a TI diminui api.rate_limit.",
	},
	"answers": {
		What: "as respostas não são da plataforma: algo no caminho responde no lugar dela", Who: "TI", Where: "rede (proxy, firewall)", Fixer: FixIT, Again: AgainNone,
		Do: "Confira proxy, firewall e api.base_url com `safrasync check`; depois rode `safrasync sync {job}`.",
	},
	"ledger": {
		What: "o registro local não pode ser usado", Who: "TI", Where: "servidor do safrasync (disco, permissões)", Fixer: FixIT, Again: AgainNone,
		Do: "Veja espaço em disco e permissões; `safrasync doctor` diz mais.",
	},
	"erp": {
		What: "o ERP não pôde ser lido", Who: "TI", Where: "banco do ERP", Fixer: FixIT, Again: AgainNone,
		Do: "Rode `safrasync check`: banco fora do ar, senha, permissão ou consulta.",
	},
	"columns": {
		What: "falta na consulta uma coluna que o mapeamento usa", Who: "TI", Where: "configuração (query da rotina)", Fixer: FixIT, Again: AgainNone,
		Do: "`safrasync check` diz qual coluna falta; corrija a consulta e rode `safrasync sync {job}`.",
	},
	"references": {
		What: "o de-para lido do ERP ficou vazio ou tem um código com dois ids", Who: "TI", Where: "ERP e configuração (references)", Fixer: FixIT, Again: AgainNone,
		Do: "Confira a tabela e a consulta em references; nada foi alterado nem enviado.",
	},
	"empty_sweep": {
		What: "a varredura achou menos da metade das linhas conhecidas", Who: "TI", Where: "ERP (visão, permissões, esquema)", Fixer: FixIT, Again: AgainNone,
		Do: "Confira a visão, as permissões e o esquema no ERP e rode `safrasync sync {job} --sweep`; se o ERP tem mesmo menos linhas, `safrasync release {job} --reason TEXTO`.",
	},
	"in_doubt": {
		What: "vários envios seguidos ficaram sem confirmação", Who: "Contabilidade", Where: "plataforma; depois as linhas sem confirmação", Fixer: FixAccounting, Again: AgainNone,
		Do: "Procure na plataforma os que estão em `safrasync rows {job} --state in_doubt`. TI: confira a rede e depois rode `safrasync sync {job}`.",
	},
	"refusals": {
		What: "a plataforma recusou uma linha após a outra", Who: "Contabilidade ou TI", Where: "ERP ou mapeamento", Fixer: FixAccounting, Again: AgainNone,
		Do: "Veja o que ela respondeu com `safrasync rows {job}`, corrija o ERP, o mapeamento ou api.base_url e rode `safrasync sync {job}`.",
	},
	"malformed": {
		What: "a plataforma não entendeu vários pedidos seguidos", Who: "TI", Where: "configuração (fields da rotina)", Fixer: FixIT, Again: AgainNone,
		Do: "Confira o mapeamento com `safrasync preview`, corrija-o e rode `safrasync sync {job}`.",
	},
	"platform": {
		What: "o registro local já enviou para outra plataforma que não a de api.base_url", Who: "TI", Where: "configuração (api.base_url, state.dsn)", Fixer: FixIT, Again: AgainNone,
		Do: "Outra plataforma (teste, depois produção): um registro local próprio, `safrasync state new`. A mesma em outro endereço: `safrasync state rebind --reason TEXTO`.",
	},
	"uneven": {
		What: "as somas do registro local não fecham", Who: "TI", Where: "registro local", Fixer: FixIT, Again: AgainNone,
		Do: "Guarde uma cópia com `safrasync backup` e avise o suporte do safrasync.",
	},
	"brake_new_rows": {
		What: "freio: apareceram muito mais linhas novas do que o normal", Who: "Contabilidade", Where: "ERP; depois safrasync release", Fixer: FixAccounting, Again: AgainNone,
		Do: "Confira no ERP se as linhas novas são verdadeiras (`safrasync status` mostra exemplos). Se forem: `safrasync release {job} --reason TEXTO`.",
	},
	"brake_retyped": {
		What: "freio: há linhas novas com o conteúdo de linhas já enviadas, cuja chave sumiu do ERP", Who: "Contabilidade", Where: "ERP; depois safrasync release", Fixer: FixAccounting, Again: AgainNone,
		Do: "Confira no ERP se os documentos foram renumerados (`safrasync status` mostra exemplos). Depois: `safrasync release {job} --reason TEXTO`.",
	},
	"brake_changed_key": {
		What: "freio: a chave ou as tabelas da consulta mudaram, e linhas conhecidas pareceriam novas", Who: "TI", Where: "configuração (key e query da rotina)", Fixer: FixIT, Again: AgainNone,
		Do: "Corrija a configuração, ou confirme que é assim com `safrasync release {job} --reason TEXTO`.",
	},
	"brake_new_job": {
		What: "freio: rotina nova, e o estado tem envios de rotina que saiu; ou mudou o `identity:`", Who: "TI", Where: "configuração (nomes das rotinas, `identity:`)", Fixer: FixIT, Again: AgainNone,
		Do: "Se for a mesma rotina com outro nome: `safrasync job move ANTIGA {job} --reason TEXTO`; se for outra, ou se as linhas forem de outro ERP: `safrasync release {job} --reason TEXTO`. `safrasync status` mostra as rotinas.",
	},
	"brake_most": {
		What: "freio: o que está pronto passa do que uma execução pode enviar", Who: "Contabilidade", Where: "ERP; depois safrasync release", Fixer: FixAccounting, Again: AgainNone,
		Do: "Confira no ERP as quantidades e os valores (`safrasync status` mostra as somas). Se estiverem certos, uma segunda pessoa libera: `safrasync release {job} --reason TEXTO`.",
	},
	"brake_canary": {
		What: "freio: as primeiras linhas sob o novo mapeamento foram, e esperam conferência", Who: "Contabilidade", Where: "plataforma; depois safrasync release", Fixer: FixAccounting, Again: AgainNone,
		Do: "Confira na plataforma as linhas que `safrasync status` mostra. Se estiverem certas: `safrasync release {job} --reason TEXTO`.",
	},
	"lease": {
		What: "outro processo assumiu a rotina", Who: "ninguém", Where: "servidor", Fixer: FixNobody, Again: AgainNone,
		Do: "Nada a fazer: o outro processo continua.",
	},
	"paused": {
		What: "uma pessoa pausou a rotina", Who: "Contabilidade ou TI", Where: "safrasync", Fixer: FixAccounting, Again: AgainNone,
		Do: "`safrasync resume {job} --reason TEXTO` a retoma; quem a pausou deixou uma nota (`safrasync status`).",
	},
	"interrupted": {
		What: "a execução foi interrompida", Who: "ninguém", Where: "servidor", Fixer: FixNobody, Again: AgainNone,
		Do: "Nada a fazer: o resto segue na próxima execução.",
	},
	"process_gone": {
		What: "o processo que executava a rotina não existe mais", Who: "ninguém", Where: "servidor", Fixer: FixNobody, Again: AgainNone,
		Do: "Nada a fazer: a próxima execução descobre o que foi feito das linhas que estavam a caminho.",
	},
	"": {What: "a rotina parou", Who: "TI", Where: "safrasync", Fixer: FixIT, Again: AgainNone, Do: "`safrasync status` diz o motivo."},
}
