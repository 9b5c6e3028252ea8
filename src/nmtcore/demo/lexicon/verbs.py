"""The verbs of the demo corpus, one table per frame (`tables.parse_verbs` explains the columns).

Several English verbs have a different German verb in each of their frames (know: kennen, wissen; leave: verlassen,
gehen, abfahren; ask: fragen, bitten; run: laufen, leiten; stop: anhalten, aufhören), so that only the structure shows
which one is right.
"""

from functools import cache

from nmtcore.demo.lexicon.entries import Noun, Verb
from nmtcore.demo.lexicon.tables import parse_verbs

_INTRANSITIVE = """
sleep slept | schlafen schläft schlief geschlafen | person animal
laugh | lachen lacht lachte gelacht | person
dance | tanzen tanzt tanzte getanzt | person
swim swam swum | schwimmen schwimmt schwamm geschwommen sein | person animal
work | arbeiten arbeitet arbeitete gearbeitet | person
arrive | an+kommen kommt kam gekommen sein | person public
wake woke woken +up | auf+wachen wacht wachte gewacht sein | person pet
get got gotten +up | auf+stehen steht stand gestanden sein | person
disappear | verschwinden verschwindet verschwand verschwunden sein | person animal thing
cry | weinen weint weinte geweint | person
sing sang sung | singen singt sang gesungen | person
smile | lächeln lächelt lächelte gelächelt | person
leave left | gehen geht ging gegangen sein | person
leave left | ab+fahren fährt fuhr gefahren sein | public
stop stopped | an+halten hält hielt gehalten | vehicle
begin began begun | an+fangen fängt fing gefangen | event
end | enden endet endete geendet | event
come came come +back | zurück+kommen kommt kam gekommen sein | person pet
burn | brennen brennt brannte gebrannt | building candle
open | sich öffnen öffnet öffnete geöffnet | part
close | sich schließen schließt schloss geschlossen | part
move | um+ziehen zieht zog gezogen sein | person
grow grew grown | wachsen wächst wuchs gewachsen sein | plant
run ran run | laufen läuft lief gelaufen sein | person animal
rest | sich aus+ruhen ruht ruhte geruht | person
hurry | sich beeilen beeilt beeilte beeilt | person
sink sank sunk | sinken sinkt sank gesunken sein | water
die died | sterben stirbt starb gestorben sein | animal person
hide hid hidden | sich verstecken versteckt versteckte versteckt | person animal
"""

_TRANSITIVE = """
read read | lesen liest las gelesen | person | text
write wrote written | schreiben schreibt schrieb geschrieben | person | text | | pen
buy bought | kaufen kauft kaufte gekauft | person | thing text food clothes vehicle drink
see saw seen | sehen sieht sah gesehen | person animal | person animal thing place vehicle | | lens
watch | beobachten beobachtet beobachtete beobachtet | person | person animal | | lens
find found | finden findet fand gefunden | person | thing text clothes animal tool
lose lost | verlieren verliert verlor verloren | person | thing clothes flat
eat ate eaten | essen isst aß gegessen | person | food
drink drank drunk | trinken trinkt trank getrunken | person | drink
love | lieben liebt liebte geliebt | person | person pet event
visit | besuchen besucht besuchte besucht | person | person building
know knew known | kennen kennt kannte gekannt | person | person text topic place
meet met | treffen trifft traf getroffen | person | person
draw drew drawn | zeichnen zeichnet zeichnete gezeichnet | person | animal person place plant | | pen
paint | malen malt malte gemalt | person | image place | | brush
repair | reparieren repariert reparierte repariert | person | vehicle device furniture | | tool
wash | waschen wäscht wusch gewaschen | person | vehicle dress breakable
open | öffnen öffnet öffnete geöffnet | person | opening | | key
close | schließen schließt schloss geschlossen | person | opening
break broke broken | zerbrechen zerbricht zerbrach zerbrochen | person | breakable
cut cut | schneiden schneidet schnitt geschnitten | person | sliced | | blade
carry | tragen trägt trug getragen | person | container thing furniture
hide hid hidden | verstecken versteckt versteckte versteckt | person | thing text
steal stole stolen | stehlen stiehlt stahl gestohlen | person | thing vehicle clothes
call | an+rufen ruft rief gerufen | person | person
pick +up | auf+heben hebt hob gehoben | person | flat
pick +up | ab+holen holt holte geholt | person | person
invite | ein+laden lädt lud geladen | person | person
turn +on | ein+schalten schaltet schaltete geschaltet | person | device
turn +off | aus+schalten schaltet schaltete geschaltet | person | device
put put +on | an+ziehen zieht zog gezogen | person | dress
take took taken +off | aus+ziehen zieht zog gezogen | person | dress
clean +up | auf+räumen räumt räumte geräumt | person | room
throw threw thrown +away | weg+werfen wirft warf geworfen | person | thing text
give gave given +up | auf+geben gibt gab gegeben | person | topic
prepare | vor+bereiten bereitet bereitete bereitet | person | held
cancel | ab+sagen sagt sagte gesagt | person | held
describe | beschreiben beschreibt beschrieb beschrieben | person | person place event topic image
explain | erklären erklärt erklärte erklärt | person | topic
understand understood | verstehen versteht verstand verstanden | person | topic text person
solve | lösen löst löste gelöst | person | riddle
forget forgot forgotten | vergessen vergisst vergaß vergessen | person | topic thing text
discover | entdecken entdeckt entdeckte entdeckt | person | topic animal place
destroy | zerstören zerstört zerstörte zerstört | person | thing building vehicle image
build built | bauen baut baute gebaut | person | building furniture bridge water
answer | beantworten beantwortet beantwortete beantwortet | person | question letter message
feed fed | füttern füttert fütterte gefüttert | person | animal
hunt | jagen jagt jagte gejagt | person animal | animal
catch caught | fangen fängt fing gefangen | person animal | animal
chase | verfolgen verfolgt verfolgte verfolgt | person animal | person animal
admire | bewundern bewundert bewunderte bewundert | person | person image building
hate | hassen hasst hasste gehasst | person | person rule topic
leave left | verlassen verlässt verließ verlassen | person | place person
miss | verpassen verpasst verpasste verpasst | person | public held
drive drove driven | fahren fährt fuhr gefahren | person | road
sign | unterschreiben unterschreibt unterschrieb unterschrieben | person | signed
translate | übersetzen übersetzt übersetzte übersetzt | person | text
publish | veröffentlichen veröffentlicht veröffentlichte veröffentlicht | person | text
criticize | kritisieren kritisiert kritisierte kritisiert | person | person topic text
praise | loben lobt lobte gelobt | person | person text topic
protect | beschützen beschützt beschützte beschützt | person animal | person animal
save | retten rettet rettete gerettet | person | person animal
arrest | verhaften verhaftet verhaftete verhaftet | officer judge soldier | person
interrupt | unterbrechen unterbricht unterbrach unterbrochen | person | person held
run ran run | leiten leitet leitete geleitet | person | business
walk | aus+führen führt führte geführt | person | dog
grow grew grown | an+bauen baut baute gebaut | farmer gardener | crop
move | verschieben verschiebt verschob verschoben | person | furniture held
stop stopped | an+halten hält hielt gehalten | person | vehicle
marry | heiraten heiratet heiratete geheiratet | person | person
wear wore worn | tragen trägt trug getragen | person | clothes
bite bit bitten | beißen beißt biss gebissen | dog horse monkey snake wolf | person animal
wake woke woken +up | auf+wecken weckt weckte geweckt | person animal | person pet
"""

_DITRANSITIVE = """
give gave given | geben gibt gab gegeben | person | thing text food
show showed shown | zeigen zeigt zeigte gezeigt | person | thing text place animal image
send sent | schicken schickt schickte geschickt | person | sent
lend lent | leihen leiht lieh geliehen | person | thing text vehicle
sell sold | verkaufen verkauft verkaufte verkauft | person | thing vehicle building clothes animal
offer | an+bieten bietet bot geboten | person | food drink
tell told | erzählen erzählt erzählte erzählt | person | story secret
bring brought | bringen bringt brachte gebracht | person | food drink thing text
"""

_PREPOSITIONAL = """
wait | warten wartet wartete gewartet | person | person public answer message | for auf acc
think thought | nach+denken denkt dachte gedacht | person | topic story event | about über acc
talk | sprechen spricht sprach gesprochen | person | topic event person text | about über acc
dream | träumen träumt träumte geträumt | person | trip island house castle war | of von dat
laugh | lachen lacht lachte gelacht | person | person mistake story | at über acc
complain | sich beschweren beschwert beschwerte beschwert | person | person rule food hotel | about über acc
look | sich kümmern kümmert kümmerte gekümmert | person | person pet garden | after um acc
look | suchen sucht suchte gesucht | person | thing clothes person pet answer | for - acc
look | an+sehen sieht sah gesehen | person | image person animal flower | at - acc
listen | zu+hören hört hörte gehört | person | person story singer | to - dat
remember | sich erinnern erinnert erinnerte erinnert | person | person event story question | - an acc
enjoy | sich freuen freut freute gefreut | person | gift letter flower | - über acc
help | helfen hilft half geholfen | person | person animal | - - dat
follow | folgen folgt folgte gefolgt sein | person animal | person animal road | - - dat
thank | danken dankt dankte gedankt | person | person | - - dat
trust | vertrauen vertraut vertraute vertraut | person | person | - - dat
believe | glauben glaubt glaubte geglaubt | person | person | - - dat
belong | gehören gehört gehörte gehört | thing vehicle building text clothes pet | person | to - dat
depend | ab+hängen hängt hing gehangen | topic event | person plan answer | on von dat
lead led | führen führt führte geführt | bridge gate street door | castle lake garden river station | to zu dat
apologize | sich entschuldigen entschuldigt entschuldigte entschuldigt | person | person | to bei dat
"""

_LOCATED = """
live | wohnen wohnt wohnte gewohnt | person | home
sit sat | sitzen sitzt saß gesessen | person pet | seat
lie lay lain | liegen liegt lag gelegen | flat | surface container
stand stood | stehen steht stand gestanden | upright | surface container
"""

_PLACED = """
put put | legen legt legte gelegt | person | flat | | surface container
put put | stellen stellt stellte gestellt | person | upright | | surface
go went gone | gehen geht ging gegangen sein | person | | | building room park
drive drove driven | fahren fährt fuhr gefahren sein | person | | | building town
travel | reisen reist reiste gereist sein | person | | | town island
"""

_THAT = """
say said | sagen sagt sagte gesagt | person
think thought | denken denkt dachte gedacht | person
believe | glauben glaubt glaubte geglaubt | person
know knew known | wissen weiß wusste gewusst | person
hope | hoffen hofft hoffte gehofft | person
claim | behaupten behauptet behauptete behauptet | person
hear heard | hören hört hörte gehört | person
notice | bemerken bemerkt bemerkte bemerkt | person
fear | fürchten fürchtet fürchtete gefürchtet | person
forget forgot forgotten | vergessen vergisst vergaß vergessen | person
discover | heraus+finden findet fand gefunden | person
admit admitted | zu+geben gibt gab gegeben | person
write wrote written | schreiben schreibt schrieb geschrieben | person
see saw seen | sehen sieht sah gesehen | person
"""

_TELL = """
tell told | sagen sagt sagte gesagt | person | person
promise | versprechen verspricht versprach versprochen | person | person
"""

_WHETHER = """
ask | fragen fragt fragte gefragt | person
know knew known | wissen weiß wusste gewusst | person
wonder | sich fragen fragt fragte gefragt | person
forget forgot forgotten | vergessen vergisst vergaß vergessen | person
hear heard | hören hört hörte gehört | person
find found +out | heraus+finden findet fand gefunden | person
"""

_SUBJECT_CONTROL = """
try | versuchen versucht versuchte versucht | person
promise | versprechen verspricht versprach versprochen | person
decide | beschließen beschließt beschloss beschlossen | person
forget forgot forgotten | vergessen vergisst vergaß vergessen | person
plan planned | planen plant plante geplant | person
hope | hoffen hofft hoffte gehofft | person
refuse | sich weigern weigert weigerte geweigert | person
begin began begun | an+fangen fängt fing gefangen | person
stop stopped | auf+hören hört hörte gehört | person | | | ing
"""

_OBJECT_CONTROL = """
ask | bitten bittet bat gebeten | person | person | - - acc
persuade | überreden überredet überredete überredet | person | person | - - acc
force | zwingen zwingt zwang gezwungen | person | person | - - acc
allow | erlauben erlaubt erlaubte erlaubt | person | person | - - dat
advise | raten rät riet geraten | person | person | - - dat
order | befehlen befiehlt befahl befohlen | person | person | - - dat
forbid forbade forbidden | verbieten verbietet verbot verboten | person | person | - - dat
help | helfen hilft half geholfen | person | person | - - dat
promise | versprechen verspricht versprach versprochen | person | person | - - dat
"""

_RAISING = """
seem | scheinen scheint schien geschienen | person animal
"""

FRAMES: dict[str, tuple[Verb, ...]] = {
    frame: parse_verbs(table, frame=frame)
    for frame, table in (
        ("intransitive", _INTRANSITIVE),
        ("transitive", _TRANSITIVE),
        ("ditransitive", _DITRANSITIVE),
        ("prepositional", _PREPOSITIONAL),
        ("located", _LOCATED),
        ("placed", _PLACED),
        ("that", _THAT),
        ("tell", _TELL),
        ("whether", _WHETHER),
        ("subject_control", _SUBJECT_CONTROL),
        ("object_control", _OBJECT_CONTROL),
        ("raising", _RAISING),
    )
}
"""The verbs by frame."""

_STATIVE = """
know love hate understand belong depend see forget trust believe remember miss lose live lead find admire leave enjoy
meet marry discover notice hear wear fear hope
"""
STATIVE = frozenset(_STATIVE.split())
"""English verbs without a progressive form and without an attitude (want, like)."""

_UNCONTROLLED = "arrive disappear die burn sink grow begin end stop cry break"
UNCONTROLLED = STATIVE.union(_UNCONTROLLED.split())
"""English verbs that are not embedded under verbs of control."""

_NO_PLACE = "drive arrive move come lie leave travel remember clean know"
NO_PLACE = frozenset(_NO_PLACE.split())
"""English verbs without a locative adjunct."""

_NO_PASSIVE = "know meet marry miss wear leave drink eat lose love hate"
NO_PASSIVE = frozenset(_NO_PASSIVE.split())
"""English verbs without a passive."""


@cache
def verbs_for(frame: str, classes: frozenset[str]) -> tuple[Verb, ...]:
    """Return the verbs of a frame that can have a subject of these classes."""
    return tuple(verb for verb in FRAMES[frame] if classes.intersection(verb.subjects))


@cache
def verbs_taking(noun: Noun) -> tuple[Verb, ...]:
    """Return the transitive verbs that can have a person as their subject and the noun as their object."""
    return tuple(
        verb for verb in FRAMES["transitive"] if "person" in verb.subjects and noun.classes.intersection(verb.takes)
    )
