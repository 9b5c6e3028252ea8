"""Adjectives, adverbs, names, prepositions and conjunctions of the demo corpus."""

from nmtcore.demo.lexicon.entries import Link
from nmtcore.demo.lexicon.tables import parse_adjectives, parse_adverbs, parse_names

ADJECTIVES = parse_adjectives("""
old older | alt älter | person animal thing building vehicle furniture clothes text place plant
young younger | jung jünger | person animal
new newer | neu neuer | thing vehicle building clothes text topic furniture device rule
big bigger | groß größer | animal thing building vehicle place furniture plant crop part container
small smaller | klein kleiner | animal thing building vehicle place furniture plant crop child part container
tall taller | groß größer | person
tired more | müde müder | person animal | müd
happy happier | glücklich glücklicher | person
sad sadder | traurig trauriger | person text
rich richer | reich reicher | person
poor poorer | arm ärmer | person
famous more | berühmt berühmter | person text image building
friendly friendlier | freundlich freundlicher | person
clever cleverer | klug klüger | person animal topic
hungry hungrier | hungrig hungriger | person animal
angry angrier | wütend wütender | person animal
brave braver | mutig mutiger | person
lazy lazier | faul fauler | person animal
sick sicker | krank kränker | person animal
strong stronger | stark stärker | animal person
nervous more | nervös nervöser | person
polite more | höflich höflicher | person
careful more | vorsichtig vorsichtiger | person
curious more | neugierig neugieriger | person animal
lonely lonelier | einsam einsamer | person place
patient more | geduldig geduldiger | person
dangerous more | gefährlich gefährlicher | animal tool place war
wild wilder | wild wilder | animal
white whiter | weiß weißer | animal clothes vehicle building thing flower
black blacker | schwarz schwärzer | animal clothes vehicle thing
red redder | rot röter | clothes vehicle thing building flower
green greener | grün grüner | clothes thing vehicle door part
blue bluer | blau blauer | clothes thing vehicle
expensive more | teuer teurer | thing vehicle clothes food building furniture | teur
cheap cheaper | billig billiger | thing vehicle clothes food drink furniture
beautiful more | schön schöner | person thing place building clothes image event plant
heavy heavier | schwer schwerer | thing furniture container
light lighter | leicht leichter | thing clothes container
long longer | lang länger | text event street bridge train
short shorter | kurz kürzer | text event trip
interesting more | interessant interessanter | text topic place event
boring more | langweilig langweiliger | text event lecture
difficult more | schwierig schwieriger | topic event text
important more | wichtig wichtiger | text topic event signed
strange stranger | seltsam seltsamer | person animal text topic thing
dirty dirtier | schmutzig schmutziger | clothes vehicle breakable room pet
fresh fresher | frisch frischer | food crop
hot hotter | heiß heißer | drink soup
cold colder | kalt kälter | drink room soup
sweet sweeter | süß süßer | crop drink cake
fast faster | schnell schneller | vehicle animal
slow slower | langsam langsamer | vehicle
quiet quieter | ruhig ruhiger | place room home
dark darker | dunkel dunkler | place room clothes | dunkl
modern more | modern moderner | building device furniture
broken more | kaputt kaputter | device vehicle furniture
empty emptier | leer leerer | container building room bottle
narrow narrower | schmal schmaler | street bridge room door
deep deeper | tief tiefer | shore
high higher | hoch höher | building wall bridge | hoh
""")

NOT_GRADED = frozenset({"broken", "empty", "wild", "modern", "black", "white", "red", "green", "blue"})
"""Adjectives without a comparative and without an adverb of degree."""

ADVERBS = parse_adverbs("""
yesterday | gestern | time | past
recently | neulich | time | past
today | heute | time | present perfect past future
now | jetzt | time | present
tomorrow | morgen | time | future
soon | bald | time | future
often | oft | often | present past perfect
always | immer | often | present past perfect
sometimes | manchmal | often | present past
rarely | selten | often | present past
usually | normalerweise | often | present
already | schon | often | perfect
finally | endlich | often | perfect past
quickly | schnell | manner
slowly | langsam | manner
carefully | vorsichtig | manner
quietly | leise | manner
secretly | heimlich | manner
alone | allein | manner
together | zusammen | plural
perhaps | vielleicht | sentence
probably | wahrscheinlich | sentence
unfortunately | leider | sentence
fortunately | glücklicherweise | sentence
apparently | anscheinend | sentence
very | sehr | degree
too | zu | degree
quite | ziemlich | degree
really | wirklich | degree
""")

PEOPLE = parse_names("""
Anna | Anna | f
Peter | Peter | m
Maria | Maria | f
Thomas | Thomas | m
Julia | Julia | f
Martin | Martin | m
Laura | Laura | f
David | David | m
Sophie | Sophie | f
Paul | Paul | m
Emma | Emma | f
Daniel | Daniel | m
Katharina | Katharina | f
Michael | Michael | m
""")

TOWNS = parse_names("""
Berlin | Berlin | n
Vienna | Wien | n
Munich | München | n
Cologne | Köln | n
Prague | Prag | n
London | London | n
Zurich | Zürich | n
Rome | Rom | n
Germany | Deutschland | n
Italy | Italien | n
""")

NUMBERS = (
    ("two", "zwei"),
    ("three", "drei"),
    ("four", "vier"),
    ("five", "fünf"),
    ("six", "sechs"),
    ("seven", "sieben"),
    ("eight", "acht"),
    ("ten", "zehn"),
    ("twelve", "zwölf"),
    ("twenty", "zwanzig"),
)

WITH = Link(english="with", german="mit", case="dat")
THROUGH = Link(english="with", german="durch", case="acc")
"""German "durch" for instruments to see with; "with a friend" is "mit"."""
ABOUT = Link(english="about", german="über", case="acc")
KEY_TO = Link(english="to", german="zu", case="dat")
FROM = Link(english="from", german="von", case="dat")
FROM_TOWN = Link(english="from", german="aus", case="dat")
FOR = Link(english="for", german="für", case="acc")
IN_CLOTHES = Link(english="in", german="in", case="dat")
IN = Link(english="in", german="in", case="dat")
ON = Link(english="on", german="auf", case="dat")
BEHIND = Link(english="behind", german="hinter", case="dat")
NEXT_TO = Link(english="near", german="bei", case="dat")
AT = Link(english="at", german="an", case="dat")
INTO = Link(english="into", german="in", case="acc")
TO_BUILDING = Link(english="to", german="in", case="acc")
TO_TOWN = Link(english="to", german="nach", case="dat")
TO_ISLAND = Link(english="to", german="auf", case="acc")
ONTO = Link(english="on", german="auf", case="acc")
BY = Link(english="by", german="von", case="dat")
OF_IMAGE = Link(english="of", german="von", case="dat")
BEFORE = Link(english="before", german="vor", case="dat")
AFTER = Link(english="after", german="nach", case="dat")
DURING = Link(english="during", german="während", case="gen")
BECAUSE_OF = Link(english="because of", german="wegen", case="gen")

SUBORDINATORS = {
    "because": "weil",
    "although": "obwohl",
    "if": "wenn",
    "when": "wenn",
    "while": "während",
    "before": "bevor",
    "after": "nachdem",
    "until": "bis",
}
"""German subordinating conjunctions by English ones; "when" is "als" in the past."""
