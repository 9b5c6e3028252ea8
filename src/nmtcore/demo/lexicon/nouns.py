"""The nouns of the demo corpus: one English-German pair per line, with the classes that verbs and prepositions select.

A line is `singular plural | gender nominative genitive plural | classes | place`. An underscore joins the words of an
English compound. A noun without a plural (`-`) is a mass noun. `place` is the pair of locative prepositions.
"""

from functools import cache

from nmtcore.demo.lexicon.entries import Noun
from nmtcore.demo.lexicon.tables import parse_nouns

_TABLE = """
man men | m Mann Mannes Männer | person
woman women | f Frau Frau Frauen | person
child children | n Kind Kindes Kinder | person
boy boys | m Junge Jungen Jungen | person
girl girls | n Mädchen Mädchens Mädchen | person
teacher teachers | m Lehrer Lehrers Lehrer | person
doctor doctors | m Arzt Arztes Ärzte | person
mother mothers | f Mutter Mutter Mütter | person kin
father fathers | m Vater Vaters Väter | person kin
student students | m Student Studenten Studenten | person
neighbor neighbors | m Nachbar Nachbarn Nachbarn | person kin
friend friends | m Freund Freundes Freunde | person kin
daughter daughters | f Tochter Tochter Töchter | person kin
son sons | m Sohn Sohnes Söhne | person kin
sister sisters | f Schwester Schwester Schwestern | person kin
brother brothers | m Bruder Bruders Brüder | person kin
aunt aunts | f Tante Tante Tanten | person kin
uncle uncles | m Onkel Onkels Onkel | person kin
grandmother grandmothers | f Großmutter Großmutter Großmütter | person kin
lawyer lawyers | m Anwalt Anwalts Anwälte | person
actress actresses | f Schauspielerin Schauspielerin Schauspielerinnen | person
painter painters | m Maler Malers Maler | person
nurse nurses | f Krankenschwester Krankenschwester Krankenschwestern | person
police_officer police_officers | m Polizist Polizisten Polizisten | person
bus_driver bus_drivers | m Busfahrer Busfahrers Busfahrer | person
queen queens | f Königin Königin Königinnen | person
king kings | m König Königs Könige | person
prince princes | m Prinz Prinzen Prinzen | person
princess princesses | f Prinzessin Prinzessin Prinzessinnen | person
soldier soldiers | m Soldat Soldaten Soldaten | person
farmer farmers | m Bauer Bauern Bauern | person
baker bakers | m Bäcker Bäckers Bäcker | person
judge judges | m Richter Richters Richter | person
thief thieves | m Dieb Diebes Diebe | person
journalist journalists | m Journalist Journalisten Journalisten | person
guest guests | m Gast Gastes Gäste | person
colleague colleagues | m Kollege Kollegen Kollegen | person kin
engineer engineers | m Ingenieur Ingenieurs Ingenieure | person
gardener gardeners | m Gärtner Gärtners Gärtner | person
tourist tourists | m Tourist Touristen Touristen | person
customer customers | m Kunde Kunden Kunden | person
waitress waitresses | f Kellnerin Kellnerin Kellnerinnen | person
witness witnesses | m Zeuge Zeugen Zeugen | person
scientist scientists | m Wissenschaftler Wissenschaftlers Wissenschaftler | person
author authors | m Autor Autors Autoren | person
singer singers | f Sängerin Sängerin Sängerinnen | person
dancer dancers | f Tänzerin Tänzerin Tänzerinnen | person
pupil pupils | m Schüler Schülers Schüler | person
cook cooks | m Koch Kochs Köche | person
mayor mayors | m Bürgermeister Bürgermeisters Bürgermeister | person
secretary secretaries | f Sekretärin Sekretärin Sekretärinnen | person
dog dogs | m Hund Hundes Hunde | animal pet
cat cats | f Katze Katze Katzen | animal pet
horse horses | n Pferd Pferdes Pferde | animal pet
bird birds | m Vogel Vogels Vögel | animal
sheep sheep | n Schaf Schafes Schafe | animal
fish fish | m Fisch Fisches Fische | animal
mouse mice | f Maus Maus Mäuse | animal
cow cows | f Kuh Kuh Kühe | animal
pig pigs | n Schwein Schweins Schweine | animal
fox foxes | m Fuchs Fuchses Füchse | animal
wolf wolves | m Wolf Wolfs Wölfe | animal
duck ducks | f Ente Ente Enten | animal
goose geese | f Gans Gans Gänse | animal
deer deer | m Hirsch Hirsches Hirsche | animal
bear bears | m Bär Bären Bären | animal
lion lions | m Löwe Löwen Löwen | animal
monkey monkeys | m Affe Affen Affen | animal
snake snakes | f Schlange Schlange Schlangen | animal
bread - | n Brot Brotes - | food sliced
apple apples | m Apfel Apfels Äpfel | food crop
cake cakes | m Kuchen Kuchens Kuchen | food sliced
soup soups | f Suppe Suppe Suppen | food
egg eggs | n Ei Eies Eier | food
cheese - | m Käse Käses - | food sliced
tomato tomatoes | f Tomate Tomate Tomaten | food sliced crop
potato potatoes | f Kartoffel Kartoffel Kartoffeln | food sliced crop
pear pears | f Birne Birne Birnen | food crop
cherry cherries | f Kirsche Kirsche Kirschen | food crop
sausage sausages | f Wurst Wurst Würste | food sliced
salad salads | m Salat Salats Salate | food
coffee - | m Kaffee Kaffees - | drink
tea - | m Tee Tees - | drink
milk - | f Milch Milch - | drink
water - | n Wasser Wassers - | drink
wine - | m Wein Weins - | drink
juice - | m Saft Saftes - | drink
book books | n Buch Buches Bücher | text flat
letter letters | m Brief Briefes Briefe | text flat sent
newspaper newspapers | f Zeitung Zeitung Zeitungen | text flat
novel novels | m Roman Romans Romane | text flat
report reports | m Bericht Berichts Berichte | text flat sent
poem poems | n Gedicht Gedichts Gedichte | text
message messages | f Nachricht Nachricht Nachrichten | text sent
story stories | f Geschichte Geschichte Geschichten | text
article articles | m Artikel Artikels Artikel | text
contract contracts | m Vertrag Vertrags Verträge | text flat sent signed
diary diaries | n Tagebuch Tagebuchs Tagebücher | text flat
magazine magazines | f Zeitschrift Zeitschrift Zeitschriften | text flat
key keys | m Schlüssel Schlüssels Schlüssel | thing flat tool key
box boxes | f Kiste Kiste Kisten | thing upright container opening
bag bags | f Tasche Tasche Taschen | thing upright container worn
lamp lamps | f Lampe Lampe Lampen | thing upright device
picture pictures | n Bild Bildes Bilder | thing flat image
photo photos | n Foto Fotos Fotos | thing flat image sent
camera cameras | f Kamera Kamera Kameras | thing device worn
computer computers | m Computer Computers Computer | thing upright device
clock clocks | f Uhr Uhr Uhren | thing upright
umbrella umbrellas | m Regenschirm Regenschirms Regenschirme | thing worn
bottle bottles | f Flasche Flasche Flaschen | thing upright opening
glass glasses | n Glas Glases Gläser | thing upright breakable
cup cups | f Tasse Tasse Tassen | thing upright breakable
coffee_cup coffee_cups | f Kaffeetasse Kaffeetasse Kaffeetassen | thing upright breakable
plate plates | m Teller Tellers Teller | thing upright breakable
vase vases | f Vase Vase Vasen | thing upright breakable
ring rings | m Ring Rings Ringe | thing flat
gift gifts | n Geschenk Geschenks Geschenke | thing sent
coin coins | f Münze Münze Münzen | thing flat
candle candles | f Kerze Kerze Kerzen | thing upright
mirror mirrors | m Spiegel Spiegels Spiegel | thing breakable
ball balls | m Ball Balls Bälle | thing flat
suitcase suitcases | m Koffer Koffers Koffer | thing upright container opening worn
basket baskets | m Korb Korbs Körbe | thing upright container worn
ticket tickets | f Fahrkarte Fahrkarte Fahrkarten | thing flat sent
flower flowers | f Blume Blume Blumen | thing plant
stone stones | m Stein Steins Steine | thing flat
blanket blankets | f Decke Decke Decken | thing flat
doll dolls | f Puppe Puppe Puppen | thing
knife knives | n Messer Messers Messer | thing flat tool blade
hammer hammers | m Hammer Hammers Hämmer | thing flat tool
axe axes | f Axt Axt Äxte | thing tool
pen pens | m Stift Stifts Stifte | thing flat tool pen
brush brushes | m Pinsel Pinsels Pinsel | thing flat tool brush
stick sticks | m Stock Stocks Stöcke | thing tool worn
telescope telescopes | n Fernrohr Fernrohrs Fernrohre | thing lens worn
hat hats | m Hut Hutes Hüte | clothes worn
coat coats | m Mantel Mantels Mäntel | clothes dress
dress dresses | n Kleid Kleides Kleider | clothes dress
shirt shirts | n Hemd Hemdes Hemden | clothes dress
jacket jackets | f Jacke Jacke Jacken | clothes dress
scarf scarves | m Schal Schals Schals | clothes worn
sweater sweaters | m Pullover Pullovers Pullover | clothes dress
car cars | n Auto Autos Autos | vehicle road
train trains | m Zug Zuges Züge | vehicle public
bus buses | m Bus Busses Busse | vehicle public
bicycle bicycles | n Fahrrad Fahrrads Fahrräder | vehicle
ship ships | n Schiff Schiffes Schiffe | vehicle public water
boat boats | n Boot Bootes Boote | vehicle water
truck trucks | m Lastwagen Lastwagens Lastwagen | vehicle road
motorcycle motorcycles | n Motorrad Motorrads Motorräder | vehicle road
table tables | m Tisch Tisches Tische | surface furniture
chair chairs | m Stuhl Stuhls Stühle | furniture seat
shelf shelves | n Regal Regals Regale | surface furniture
bed beds | n Bett Bettes Betten | surface furniture seat
desk desks | m Schreibtisch Schreibtischs Schreibtische | surface furniture
kitchen_table kitchen_tables | m Küchentisch Küchentischs Küchentische | surface furniture
sofa sofas | n Sofa Sofas Sofas | surface furniture seat
bench benches | f Bank Bank Bänke | seat furniture
cabinet cabinets | m Schrank Schranks Schränke | container furniture opening
drawer drawers | f Schublade Schublade Schubladen | container opening
door doors | f Tür Tür Türen | opening part at
window windows | n Fenster Fensters Fenster | opening part at
gate gates | n Tor Tores Tore | opening part at
roof roofs | n Dach Daches Dächer | part
wall walls | f Wand Wand Wände | part
house houses | n Haus Hauses Häuser | place building home | in in
garden gardens | m Garten Gartens Gärten | place | in in
kitchen kitchens | f Küche Küche Küchen | place room home | in in
school schools | f Schule Schule Schulen | place building | in in
hospital hospitals | n Krankenhaus Krankenhauses Krankenhäuser | place building | in in
church churches | f Kirche Kirche Kirchen | place building | in in
museum museums | n Museum Museums Museen | place building | in in
library libraries | f Bibliothek Bibliothek Bibliotheken | place building | in in
forest forests | m Wald Waldes Wälder | place | in in
park parks | m Park Parks Parks | place | in in
city cities | f Stadt Stadt Städte | place home | in in
village villages | n Dorf Dorfes Dörfer | place home | in in
castle castles | n Schloss Schlosses Schlösser | place building home | in in
office offices | n Büro Büros Büros | place room | in in
restaurant restaurants | n Restaurant Restaurants Restaurants | place building business | in in
hotel hotels | n Hotel Hotels Hotels | place building business | in in
cinema cinemas | n Kino Kinos Kinos | place building business | in in
theater theaters | n Theater Theaters Theater | place building business | in in
room rooms | n Zimmer Zimmers Zimmer | place room home | in in
cellar cellars | m Keller Kellers Keller | place room | in in
factory factories | f Fabrik Fabrik Fabriken | place building business | in in
shop shops | m Laden Ladens Läden | place building business | in in
train_station train_stations | m Bahnhof Bahnhofs Bahnhöfe | place | at an
airport airports | m Flughafen Flughafens Flughäfen | place | at an
river rivers | m Fluss Flusses Flüsse | place shore | at an
lake lakes | m See Sees Seen | place shore | at an
beach beaches | m Strand Strandes Strände | place shore | on an
market markets | m Markt Marktes Märkte | place | at auf
street streets | f Straße Straße Straßen | place | on auf
field fields | n Feld Feldes Felder | place | in auf
bridge bridges | f Brücke Brücke Brücken | place | on auf
island islands | f Insel Insel Inseln | place home | on auf
tree trees | m Baum Baumes Bäume | plant
idea ideas | f Idee Idee Ideen | topic
plan plans | m Plan Plans Pläne | topic
problem problems | n Problem Problems Probleme | topic riddle
question questions | f Frage Frage Fragen | topic asked
answer answers | f Antwort Antwort Antworten | topic
mistake mistakes | m Fehler Fehlers Fehler | topic
rule rules | f Regel Regel Regeln | topic
secret secrets | n Geheimnis Geheimnisses Geheimnisse | topic
project projects | n Projekt Projekts Projekte | topic
meeting meetings | f Besprechung Besprechung Besprechungen | event held
concert concerts | n Konzert Konzerts Konzerte | event held
wedding weddings | f Hochzeit Hochzeit Hochzeiten | event held
party parties | f Feier Feier Feiern | event held
game games | n Spiel Spiels Spiele | event held
exam exams | f Prüfung Prüfung Prüfungen | event held
trip trips | f Reise Reise Reisen | event held
war wars | m Krieg Krieges Kriege | event
lecture lectures | m Vortrag Vortrags Vorträge | event held
exhibition exhibitions | f Ausstellung Ausstellung Ausstellungen | event held
"""

NOUNS: tuple[Noun, ...] = parse_nouns(_TABLE)


@cache
def of_class(*tags: str) -> tuple[Noun, ...]:
    """Return the nouns that belong to any of the classes, in the order of the table."""
    return tuple(noun for noun in NOUNS if not noun.classes.isdisjoint(tags))
