package main

import "github.com/safrasync/safrasync/trade"

// What refs, check and sandbox say.
var (
	actAsk         = phrase{"Confirma? [s/N] ", "Go ahead? [y/N] "}
	actOnlyPlanned = phrase{"Nada foi feito: sem terminal para perguntar, confirme com --yes.", "Nothing was done: without a terminal to ask at, confirm with --yes."}
	actNotDone     = phrase{"Nada foi feito.", "Nothing was done."}
	actNeedsReason = phrase{"falta --reason TEXTO: o motivo fica na auditoria", "--reason TEXT is missing: the audit keeps it"}

	refsNoKind      = phrase{"não existe o de-para %q; existem %s", "there is no kind of reference %q; there are %s"}
	refsFromERP     = phrase{"o de-para %s é lido do ERP a cada execução (references.%s na configuração); altere-o lá", "the references %s are read from the ERP in each run (references.%s in the configuration); change them there"}
	refsBadLine     = phrase{"código %q ou id %q não serve: o código não pode ser vazio e o id deve ser um UUID", "code %q or id %q cannot be used: the code must not be blank, the id must be a UUID"}
	refsWouldAdd    = phrase{"  novo      %s → %s", "  new       %s → %s"}
	refsWouldChange = phrase{"  alterado  %s: %s → %s", "  changed   %s: %s → %s"}
	refsWouldRemove = phrase{"  removido  %s → %s", "  removed   %s → %s"}
	refsSame        = phrase{"%s já está assim; nada a fazer", "%s is like that already; nothing to do"}
	refsNotThere    = phrase{"o de-para %s não tem o código %s", "the references %s have no code %s"}
	refsRemoved     = phrase{"%s: %d removido(s)", "%s: %d removed"}
	refsDone        = phrase{"%s: %d novo(s), %d alterado(s), %d sem mudança; as linhas que esperavam seguem na próxima execução.", "%s: %d added, %d changed, %d unchanged; the rows that waited go with the next run."}
	refsNone        = phrase{
		"nenhum de-para gravado, e nenhuma linha registrada espera por um; o que falta às linhas do ERP, antes do primeiro envio: `safrasync explain JOB`",
		"no references are stored, and no row of the ledger waits for one; what rows of the ERP lack, before the first sending: `safrasync explain JOB`",
	}
	refsMissingTotal = phrase{"%s: %d código(s) sem id seguram %s", "%s: %d code(s) without an id block %s"}
	refsMissingHint  = phrase{"Grave os que faltam com `safrasync refs import`; quando a origem é o ERP ou a plataforma, cadastre-os lá.", "Add what is missing with `safrasync refs import`; where it comes from the ERP or the platform, add it there."}
	refsBlocksNone   = phrase{"nenhuma linha que possa seguir só com isso", "no row that could go with that alone"}
	refsUnweighed    = phrase{"%d linha(s) sem quantidade ou unidade legível", "%d row(s) without a readable amount or unit"}
	refsHeadKind     = phrase{"De-para", "Kind"}
	refsHeadCode     = phrase{"Código no ERP", "ERP code"}
	refsHeadID       = phrase{"Id na plataforma", "Platform id"}
	refsHeadMissing  = phrase{"Código sem id", "Code without id"}
	refsHeadTonnes   = phrase{"Peso (t)", "Weight (t)"}
	refsHeadInvalid  = phrase{"Inválidas também", "Also invalid"}
	refsHeadFrom     = phrase{"Origem", "From"}

	planTitle   = phrase{"%s: %d novo(s), %d alterado(s), %d sem mudança", "%s: %d new, %d changed, %d unchanged"}
	planMore    = phrase{"  … e mais %d", "  … and %d more"}
	csvBadLine  = phrase{"  linha %d: %s", "  line %d: %s"}
	csvRefused  = phrase{"%d linha(s) inválida(s): nada foi importado; corrija o arquivo, ou importe as outras com --skip-invalid", "%d invalid line(s): nothing was imported; correct the file, or import the others with --skip-invalid"}
	csvTooLarge = phrase{"o arquivo tem mais de %d MiB", "the file is larger than %d MiB"}
	csvNotUTF8  = phrase{"o arquivo não está em UTF-8; salve-o como «CSV UTF-8»", "the file is not UTF-8; save it as \"CSV UTF-8\""}
	csvNoHeader = phrase{"a primeira linha deve ser o cabeçalho code,id (ou code;id)", "the first line must be the header code,id (or code;id)"}
	csvBroken   = phrase{"aspas sem par; daqui em diante o arquivo não pode ser lido", "a quote without its partner; from here on the file cannot be read"}
	csvColumns  = phrase{"tem %d coluna(s) em vez de 2", "has %d column(s) instead of 2"}
	csvNoCode   = phrase{"o código está vazio", "the code is blank"}
	csvNoUUID   = phrase{"o id %s não é um UUID", "the id %s is not a UUID"}
	csvDouble   = phrase{"o código %s já está na linha %d com outro id", "the code %s stands in line %d with another id"}

	checkFault           = phrase{"%v", "%v"}
	checkConfigOK        = phrase{"%s, %d job(s)", "%s, %d job(s)"}
	checkConfigHint      = phrase{"config.example.yaml explica cada chave", "config.example.yaml explains every key"}
	checkLedgerHint      = phrase{"veja state.dsn, a pasta e suas permissões", "look at state.dsn, the folder and its rights"}
	checkERPOK           = phrase{"%s, %s, codificação %s, aberto somente para leitura", "%s, %s, charset %s, opened read-only"}
	checkOpenERP         = phrase{"a conexão vai a outra máquina sem TLS: a senha e as linhas passam abertas pela rede", "the connection goes to another host without TLS: the password and the rows travel in the open"}
	checkOpenERPHint     = phrase{"em erp.dsn: sslmode=verify-full (PostgreSQL), tls=verify (MySQL, SQL Server, Oracle) ou wire_crypt=required (Firebird)", "in erp.dsn: sslmode=verify-full (PostgreSQL), tls=verify (MySQL, SQL Server, Oracle) or wire_crypt=required (Firebird)"}
	checkERPHint         = phrase{"veja erp.dsn, a rede e o usuário de leitura", "look at erp.dsn, the network and the reading user"}
	checkContractKey     = phrase{"a chave contém a do contrato (%s)", "the key has the contract's key in it (%s)"}
	checkIdentityOK      = phrase{"os jobs e as chaves são os do estado; nenhuma linha é de dois jobs", "jobs and keys are those of the ledger; no row is of two jobs"}
	checkIdentityHint    = phrase{"corrija o que está acima e confira de novo", "correct what is above and check again"}
	checkFormerJob       = phrase{"o job %s não está na configuração, e o estado tem linhas que ele enviou: %d aceitas, %d em dúvida", "job %s is not configured, and the ledger has rows that it sent: %d accepted, %d in doubt"}
	checkFormerAloneHint = phrase{"nenhuma chave delas sai por outro job; nada a fazer se o job acabou mesmo", "no key of theirs is sent by another job; nothing is to be done if the job is really gone"}
	checkFormerJobHint   = phrase{
		"jobs novos do mesmo tipo (%s) ficam pausados; se é o mesmo com outro nome: `safrasync job move %s %s --reason TEXTO`; se é outro: `safrasync release %s --reason TEXTO`",
		"new jobs of the same kind (%s) are paused; if it is the same under another name: `safrasync job move %s %s --reason TEXT`; if it is another one: `safrasync release %s --reason TEXT`",
	}
	checkSplitJob = phrase{
		"a consulta do job %s não traz mais %d das %d linhas que ele enviou, e há jobs novos do mesmo tipo: %s",
		"the query of job %s returns %d of the %d rows no more that it has sent, and jobs of the same kind are new: %s",
	}
	checkSplitJobHint = phrase{
		"os novos ficam pausados; se linhas passam de um job a outro, dê-lhes a mesma chave (key), para que não saiam de novo; se são outras: `safrasync release %s --reason TEXTO`",
		"the new ones are paused; if rows go from one job to another, give both the same key, so that they do not go again; if they are others: `safrasync release %s --reason TEXT`",
	}
	checkChangedKey       = phrase{"o job %s distingue as linhas por %s; na última execução era por %s", "job %s tells rows apart by %s; in its last run by %s"}
	checkChangedRows      = phrase{": das %d linhas conhecidas, %d sumiriam, e %d pareceriam novas", ": of %d known rows %d would be gone, and %d would look new"}
	checkChangedKeyHint   = phrase{"uma chave nova faz de cada linha outra linha; volte à chave de antes, ou confirme quando o freio agir", "another key makes another row of each; go back to the key as it was, or confirm it when the brake acts"}
	checkChangedSpace     = phrase{"o job %s passa de identity \"%s\" a \"%s\": tem %d linhas aceitas, %d em dúvida", "job %s goes from identity \"%s\" to \"%s\": it has %d accepted rows, %d in doubt"}
	checkChangedSpaceHint = phrase{"as suas chaves passam a ser comparadas só com as dos jobs do mesmo identity; jobs do mesmo tipo no estado: %s", "its keys are compared only with those of jobs of the same identity from then on; jobs of the same kind in the ledger: %s"}
	checkSharedKeys       = phrase{"%d linhas são devolvidas pelos jobs %s e %s, por exemplo %s", "%d rows are returned by both jobs %s and %s, such as %s"}
	checkSharedPart       = phrase{" (só as primeiras linhas foram comparadas)", " (only the first rows were compared)"}
	checkSharedKeysHint   = phrase{
		"cada uma vai uma vez só, pelo primeiro que a enviar, e fica retida no outro: corrija as consultas; se são de dois ERPs, dê um `identity` a um deles",
		"each goes once, by the job that sends it first, and is held in the other: correct the queries; if they are of two ERPs, give one of them an `identity`",
	}
	checkContractKeyHint = phrase{
		"uma entrega transferida para outro contrato pareceria nova e iria outra vez: use o que identifica o ticket e a linha",
		"a delivery that is transferred to another contract would look new and go a second time: use what identifies the ticket and its line",
	}
	checkCompra     = phrase{"nenhum contrato COMPRA pode ser válido: fields não tem %s", "no contract COMPRA can be valid: fields does not have %s"}
	checkCompraHint = phrase{
		"a plataforma exige esses campos em COMPRA: mapeie-os; só dispensa isto quem nunca envia COMPRA",
		"the platform requires these fields of COMPRA: map them; only who never sends COMPRA can do without",
	}
	checkEveryMinute     = phrase{"schedule \"%s\" executa %d vezes por hora, nas horas %s", "schedule \"%s\" runs %d times an hour, in the hours %s"}
	checkEveryMinuteHint = phrase{
		"o * no lugar dos minutos é cada minuto; para uma vez em cada uma dessas horas, ponha 0 no lugar dele",
		"the * in the place of the minutes is every minute; for once in each of those hours, put 0 in its place",
	}
	checkUnseen     = phrase{"cancelled: nenhuma linha tem %s na coluna %s, que tem %s", "cancelled: no row has %s in column %s, which has %s"}
	checkUnseenHint = phrase{
		"se o valor está escrito de outro modo no ERP, corrija cancelled.values: cancelados seriam enviados, e a plataforma não exclui; se ainda não houve nenhum, está certo",
		"if the ERP writes it in another way, correct cancelled.values: cancelled rows would be sent, and the platform cannot delete; if there has been none yet, it is right",
	}
	checkNoParent     = phrase{"nenhuma de %d linhas encontra a sua do job %s: aqui %s; em %s %s", "none of %d rows finds its row of job %s: here %s; in %s %s"}
	checkNoParentHint = phrase{
		"os dois lados escrevem a mesma chave de modo diferente: ponha na consulta a mesma forma (zeros à esquerda, filial) dos dois lados; não é dado a corrigir no ERP",
		"the two sides write the same key in different ways: give both the same form in the query (leading zeros, branch); nothing is wrong with the data in the ERP",
	}
	checkConstant     = phrase{"a coluna %s, que indica a linha do job %[3]s, tem sempre %[2]s, e lá há %[4]s", "column %s, which names the row of job %[3]s, is always %[2]s, and there are %[4]s there"}
	checkConstantHint = phrase{
		"uma parte fixa da chave faz linhas de outra filial irem sob o contrato errado: use na consulta a coluna do ERP",
		"a constant part of the key puts rows of another branch under the wrong contract: use the ERP's column in the query",
	}
	checkPosition     = phrase{"a chave conta posições com ROW_NUMBER (%s)", "the key counts positions by ROW_NUMBER (%s)"}
	checkPositionHint = phrase{
		"uma linha inserida ou apagada renumera as seguintes, e elas ficam retidas ou marcadas: use uma coluna que fique com o documento",
		"a row that is inserted or deleted renumbers all that follow, which are then held or flagged: use a column that stays with the document",
	}
	checkCharsetHint     = phrase{"o banco não sabe em que codificação guarda os textos; acentos podem sair errados", "the database does not know in which charset it keeps text; accents may come out wrong"}
	checkJobOK           = phrase{"a consulta tem as colunas dos %d campos mapeados", "the query has the columns of the %d mapped fields"}
	checkColumnHint      = phrase{"corrija a consulta ou o mapeamento nesta linha da configuração", "correct the query or the mapping in this line of the configuration"}
	checkGrantHint       = phrase{"dê ao usuário de leitura o direito de SELECT", "grant SELECT to the reading user"}
	checkQueryHint       = phrase{"rode a consulta no próprio banco para ver o erro", "run the query in the database itself to see the error"}
	checkAPIOK           = phrase{"%s responde e aceita a chave", "%s answers and accepts the key"}
	checkAPIFailed       = phrase{"%s (detalhe técnico: %v)", "%s (technical detail: %v)"}
	checkAPIHint         = phrase{"veja api.base_url, a rede e o proxy", "look at api.base_url, the network and the proxy"}
	checkKeyHint         = phrase{"a chave foi recusada: renove api.api_key", "the key was refused: renew api.api_key"}
	checkKeyInsideHint   = phrase{"o gateway aceitou a chave, um serviço interno a recusou: fale com a plataforma", "the gateway accepted the key, a service inside refused it: ask the platform"}
	checkPermissionHint  = phrase{"a chave não tem permissão: fale com a plataforma", "the key has no permission: ask the platform"}
	checkCertificateHint = phrase{"veja api.ca_file e o relógio desta máquina", "look at api.ca_file and this host's clock"}
	checkClockOK         = phrase{"de acordo com o relógio da API", "agrees with the API's clock"}
	checkClockOff        = phrase{"difere %s do relógio da API", "differs by %s from the API's clock"}
	checkClockHint       = phrase{"ligue a sincronização de horário (NTP) desta máquina", "switch on time synchronisation (NTP) on this host"}

	sandboxRuns = phrase{
		"sandbox em %s (chave: %s, semente %d); o que aconteceu: %s/_sandbox/; termina com Ctrl+C",
		"sandbox at %s (key: %s, seed %d); what happened: %s/_sandbox/; ends with Ctrl+C",
	}
	sandboxEnds = phrase{
		"sandbox terminado: %d contratos, %d entregas e %d linhas de rastreabilidade criados, %d pedidos recebidos",
		"sandbox ended: %d contracts, %d deliveries and %d traceability rows created, %d requests received",
	}
)

// refsFrom says where a de-para is kept.
var refsFrom = map[string]phrase{
	"ledger": {"registro local", "ledger"},
	"erp":    {"ERP", "ERP"},

	"platform": {"plataforma", "platform"},
}

// recordNames are the kinds of records: as the head of a column, and after their number.
var recordNames = map[trade.Kind][2]phrase{
	trade.OrderCommitments: {{"Contratos", "Contracts"}, {"%d contrato(s)", "%d contract(s)"}},
	trade.Deliveries:       {{"Entregas", "Deliveries"}, {"%d entrega(s)", "%d delivery(ies)"}},
	trade.Traceability:     {{"Rastreab.", "Traceab."}, {"%d rastreabilidade(s)", "%d traceability record(s)"}},
}

func recordsHead(k trade.Kind) phrase  { return recordNames[k][0] }
func recordsCount(k trade.Kind) phrase { return recordNames[k][1] }
