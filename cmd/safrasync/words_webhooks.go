package main

// What the commands of webhooks say.
var (
	helpHooks       = phrase{"webhooks da plataforma, como declarados na configuração", "webhooks of the platform, as declared in the configuration"}
	helpHooksPlan   = phrase{"compara o declarado com a plataforma; não muda nada", "compare what is declared with the platform; change nothing"}
	helpHooksApply  = phrase{"registra, altera e remove na plataforma o que é nosso, até ser como declarado", "register, change and remove on the platform what is ours, until it is as declared"}
	helpHooksList   = phrase{"o que a plataforma tem registrado, e de quem é", "what the platform has registered, and whose it is"}
	helpHooksShow   = phrase{"o registro de um evento", "the registration of one event"}
	helpHooksDelete = phrase{"remove da plataforma registros nossos", "remove registrations of ours from the platform"}
	helpHooksInbox  = phrase{"os eventos que chegaram; com um número, o evento inteiro", "the events that came; with a number, the whole event"}
	helpHooksReplay = phrase{"examina eventos mais uma vez", "look at events once more"}

	hooksNone     = phrase{"a configuração não tem webhooks: veja docs/webhooks.md", "the configuration has no webhooks: see docs/webhooks.md"}
	hooksNothing  = phrase{"Tudo como declarado.", "Everything is as declared."}
	hooksPlan     = phrase{"Na plataforma %s:", "On the platform %s:"}
	hooksPlanLine = phrase{"  %s: %s (%s)", "  %s: %s (%s)"}
	hooksDone     = phrase{"%s: %s: feito", "%s: %s: done"}
	hooksNotDone  = phrase{"%s: não feito: %s", "%s: not done: %s"}
	hooksFailed   = phrase{"%s: %s", "%s: %s"}
	hooksTwice    = phrase{"Atenção: a plataforma tem mais de um webhook para %s; o que ela faz com isso não é documentado.", "Note: the platform has more than one webhook for %s; what it does then is not documented."}
	hooksSeq      = phrase{"%q não é o número de um evento; `webhooks inbox` mostra os números", "%q is not the number of an event; `webhooks inbox` shows the numbers"}
	hooksNoEvent  = phrase{"não há evento %s na caixa de entrada", "there is no event %s in the inbox"}

	hooksReplayWhat = phrase{"diga quais eventos: números, ou --event, --text, --since", "say which events: numbers, or --event, --text, --since"}
	hooksReplayPlan = phrase{"%d evento(s), de %d a %d, serão examinados mais uma vez. Nada é reenviado por isso.", "%d event(s), from %d to %d, will be looked at once more. Nothing is sent again by it."}
	hooksReplayed   = phrase{"%d evento(s) examinados", "%d event(s) looked at"}

	hooksHeadEvent   = phrase{"Evento", "Event"}
	hooksHeadAction  = phrase{"A fazer", "To do"}
	hooksHeadAddress = phrase{"Endereço", "Address"}
	hooksHeadWhy     = phrase{"Por quê", "Why"}
	inboxHeadSeq     = phrase{"Nº", "No."}
	inboxHeadEvent   = phrase{"Evento", "Event"}
	inboxHeadAt      = phrase{"Quando", "When"}
	inboxHeadTimes   = phrase{"Vezes", "Times"}
	inboxHeadOutcome = phrase{"O que resultou", "What came of it"}
	inboxOpen        = phrase{"ainda a examinar", "still to be looked at"}
	inboxTitle       = phrase{"Evento %d, %s, desde %s, %d vez(es), de %s", "Event %d, %s, since %s, %d time(s), from %s"}

	hookWhySame       = phrase{"como declarado", "as declared"}
	hookWhyNone       = phrase{"a plataforma não tem nenhum para este evento", "the platform has none for this event"}
	hookWhyGone       = phrase{"não declarado, e a plataforma não tem", "not declared, and the platform has none"}
	hookWhyOld        = phrase{"a plataforma chama um endereço antigo nosso", "the platform calls an older address of ours"}
	hookWhyAddress    = phrase{"o endereço declarado é outro", "the declared address is another"}
	hookWhySecret     = phrase{"o hmac_secret declarado é outro", "the declared hmac_secret is another"}
	hookWhyLogin      = phrase{"as credenciais na plataforma não são as nossas", "the credentials on the platform are not ours"}
	hookWhyConfirm    = phrase{"a plataforma tem o que foi enviado; a resposta se perdeu", "the platform has what was sent; its answer was lost"}
	hookWhyUndeclared = phrase{"é nosso e não está mais declarado", "it is ours and not declared any more"}
	hookWhyAsked      = phrase{"pedido", "asked for"}
	hookWhyForeign    = phrase{"é de outro sistema: fica como está (--take-over EVENTO substitui)", "it is another system's: left as it is (--take-over EVENT replaces it)"}
	hookWhyTaken      = phrase{"substitui o de outro sistema, a pedido", "replaces another system's, as asked for"}
	hookWhyWait       = phrase{"um registro enviado antes ainda pode surgir; repita depois", "a registration that was sent before may still appear; run this again later"}

	hintHeard      = phrase{"  %s, avisado pela plataforma: %s%s", "  %s, told by the platform: %s%s"}
	hintRecord     = phrase{"  Um evento falou do registro %s: %d campo(s) iguais ao enviado, %d diferentes, %d que a plataforma não mostra", "  An event told of record %s: %d field(s) as they were sent, %d that differ, %d that the platform does not show"}
	hintField      = phrase{"    %s: enviado %s, lá %s", "    %s: sent %s, there %s"}
	hintAdopt      = phrase{"    se for este: `safrasync adopt %s '%s' %s --reason TEXTO`", "    if it is this one: `safrasync adopt %s '%s' %s --reason TEXT`"}
	hintUnreadable = phrase{"  Um evento falou do registro %s, que não pôde ser lido; isso não diz se existe", "  An event told of record %s, which could not be read; that does not say whether it is there"}
	hintEvents     = phrase{"  Desde o envio chegaram %d evento(s), %d de contratos, e nenhum de um registro como este; isso não prova nada", "  Since the request %d event(s) came, %d of order commitments, and none of a record like this one; that proves nothing"}
	hintMore       = phrase{"  Há mais registros do que os %d que se comparam aqui, os primeiros de que eventos falaram desde o envio: se nenhum for este, procure na plataforma.", "  There are more records than the %d that are compared here, the first ones of which events told since the request: if none is this one, look on the platform."}
	hintSeveral    = phrase{"  Mais de um registro ou mais de uma linha têm este conteúdo: só uma pessoa pode dizer qual é qual.", "  More than one record, or more than one row, has this content: only a person can tell which is which."}
	hintNoEvent    = phrase{"  Entregas e rastreabilidade não têm evento nem consulta na API: procure na plataforma.", "  Deliveries and traceability have no event and no reading in the API: look on the platform."}

	hookMoved   = phrase{"a plataforma tem outra coisa agora do que o plano mostrou; repita o comando", "the platform has something else now than the plan showed; run the command again"}
	hookRefused = phrase{"a plataforma recusou", "the platform refused"}
	hookUnknown = phrase{"ninguém sabe se a plataforma registrou; repita o comando depois de %s: ele pergunta antes", "nobody knows whether the platform registered it; run the command again after %s: it asks first"}
	hookNoID    = phrase{"a plataforma não diz o id do registro; remova-o lá", "the platform does not tell the id of the registration; remove it there"}
)

var hookActionWords = map[hookAction]phrase{
	hookKeep:    {"nada", "nothing"},
	hookCreate:  {"registrar", "register"},
	hookUpdate:  {"alterar", "change"},
	hookConfirm: {"confirmar", "confirm"},
	hookRemove:  {"remover", "remove"},
	hookForeign: {"deixar", "leave"},
	hookWait:    {"aguardar", "wait"},
}
