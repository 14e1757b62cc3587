"""The sentences for the pocket models: templates with slots, many in English, a few in German, Spanish and French.

The spelling is that of Whisper, but numbers are words. About one sentence in eight is held out: it is used only in
tests, and never in the training. A hash of the text selects these sentences.
"""
import re
import zlib

NAMES = "Anna Ben Carla David Emma Frank Julia Laura Martin Nina Oliver Peter Sarah Thomas".split()
DIGITS = "zero one two three four five six seven eight nine".split()
TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
NUMBERS = DIGITS[2:] + TEENS + TENS + [f"{t} {d}" for t in TENS for d in DIGITS[1:]] + ["one hundred", "two hundred"]

SLOTS = {
    "en": dict(
        name=NAMES,
        day="Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(),
        month="January February March April May June July August September October November December".split(),
        hour=DIGITS[1:] + TEENS[:3],
        digit=DIGITS,
        number=NUMBERS,
        thing="report budget project meeting contract database server design schedule invoice product website "
              "presentation document plan recording microphone agenda deadline release window garden kitchen "
              "letter train ticket picture station library hotel bridge".split(),
        group="team customer manager client engineer office company teacher doctor driver".split(),
        did="finished checked reviewed changed approved cancelled updated tested signed opened painted found".split(),
        do="finish check review change approve cancel update test sign open paint find".split(),
        be="ready late important expensive simple complete difficult wrong beautiful empty new old".split(),
        past=["today", "yesterday", "last month", "this morning", "in the afternoon", "at night"],
        future=["today", "tomorrow", "next week", "this evening", "in the afternoon", "at night"],
        place=["in the office", "in the garden", "at the station", "at home", "in the city", "near the river",
               "at the market", "on the table"],
        food="bread coffee tea soup cheese fruit fish water".split(),
        color="red blue green white black yellow".split(),
        weather="sunny rainy cold warm windy cloudy".split(),
        good="good great bad nice strange".split(),
    ),
    "de": dict(
        noun="Bericht Vertrag Plan Termin Kunde Drucker Zug Garten Brief".split(),
        be="fertig wichtig gut neu teuer alt schön".split(),
        day="Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag".split(),
        number="zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split(),
        digit="null eins zwei drei vier fünf sechs sieben acht neun".split(),
        name=NAMES, when="heute morgen gestern".split(), food="Brot Kaffee Wasser Käse".split(),
    ),
    "es": dict(
        noun="informe contrato proyecto cliente servidor documento tren libro jardín".split(),
        be="listo nuevo caro bueno viejo bonito".split(),
        day="lunes martes miércoles jueves viernes sábado domingo".split(),
        number="dos tres cuatro cinco seis siete ocho nueve diez once doce".split(),
        digit="cero uno dos tres cuatro cinco seis siete ocho nueve".split(),
        name=NAMES, when="hoy mañana ayer".split(), food="pan café agua queso".split(),
    ),
    "fr": dict(
        noun="rapport contrat projet client serveur document train livre jardin".split(),
        be="prêt important nouveau cher simple grand".split(),
        day="lundi mardi mercredi jeudi vendredi samedi dimanche".split(),
        number="deux trois quatre cinq six sept huit neuf dix onze douze".split(),
        digit="zéro un deux trois quatre cinq six sept huit neuf".split(),
        name=NAMES, when=["aujourd'hui", "demain", "hier"], food=["du pain", "du café", "de l'eau", "du fromage"],
    ),
}

TEMPLATES = {
    "en": """
The {thing} is {be}.
Is the {thing} {be}?
We {did} the {thing} {past}.
{name} {did} the {thing} on {day}.
Can you {do} the {thing}, please?
I will {do} the {thing} {future}.
We need {number} more days.
The {group} wants to {do} the {thing}.
Let us meet on {day} at {hour} o'clock.
The number is {number}.
The code is {digit} {digit} {digit} {digit}.
The code is {digit} {digit} {digit}.
My number is {digit} {digit} {digit} {digit} {digit}.
Thank you very much, {name}!
Good morning, everyone.
Good morning, {name}.
Good evening, {name}.
Hello {name}, how are you?
What do you think about the {thing}?
I think the {thing} is {be}.
{name}, who {did} the {thing}?
The {thing} costs {number} dollars.
In {month} we had {number} new customers.
{name} and {name} will {do} the {thing}.
That is a {good} idea!
When is the next meeting?
The next meeting is in {month}.
Yes, I {did} the {thing}.
No, the {thing} is not {be}.
Okay, let us start with the {thing}.
Where is the {thing}?
The {group} {did} the {thing} {past}.
Please call the {group} {future}.
There are {number} people {place}.
Does anyone have a question?
I have a question about the {thing}.
We have a problem with the {thing}.
See you on {day}!
It was {weather} {past}.
It will be {weather} on {day}.
{name} bought {food} and {food} {place}.
I would like some {food}, please.
The {color} {thing} is {place}.
Do you like the {color} {thing}?
{name} is waiting {place}.
My {group} has {number} {color} chairs.
The {thing} is {be}, but the {thing} is {be}.
If it is {weather} {future}, we will stay at home.
{name} said that the {thing} is {be}.
I was {place} when {name} {did} the {thing}.
We talked about the {thing}, the {thing} and the {thing}.
She has {number} books and {number} pictures.
He was born in {month}, {number} years ago.
Why did the {group} {do} the {thing}?
First we {do} the {thing}, then we {do} the {thing}.
The train leaves at {hour} in the morning.
Yes.
No.
Okay.
Hello.
Thank you.
""",
    "de": """
Der {noun} ist {be}.
Ist der {noun} {be}?
Guten Morgen, {name}.
Guten Morgen zusammen.
Wir treffen uns am {day} um {number} Uhr.
Die Nummer ist {digit} {digit} {digit}.
Ich habe eine Frage.
Vielen Dank für die Hilfe!
Am {day} habe ich keine Zeit.
Wir haben {number} neue Kunden.
Wo ist der {noun}?
Das ist ein Problem.
Der {noun} war {when} {be}.
{name} kauft {when} {food} und {food}.
Ich glaube, der {noun} ist {be}.
{name} und {name} kommen am {day}.
""",
    "es": """
El {noun} está {be}.
¿Está {be} el {noun}?
Buenos días, {name}.
Buenos días a todos.
Nos vemos el {day} a las {number}.
El número es {digit} {digit} {digit}.
Tengo una pregunta.
¡Muchas gracias por la ayuda!
El {day} no tengo tiempo.
Tenemos {number} clientes nuevos.
¿Dónde está el {noun}?
Esto es un problema.
{name} compra {food} y {food} {when}.
Creo que el {noun} es {be}.
{name} y {name} llegan el {day}.
""",
    "fr": """
Le {noun} est {be}.
Est-ce que le {noun} est {be}?
Bonjour, {name}.
Bonjour à tous.
On se voit {day} à {number} heures.
Le numéro est {digit} {digit} {digit}.
Vous avez une question?
Merci beaucoup pour votre aide!
Je ne suis pas là {day}.
Nous avons {number} clients.
Où est le {noun}?
Nous avons un problème.
{name} achète {food} et {food} {when}.
Je crois que le {noun} est {be}.
{name} et {name} arrivent {day}.
""",
}
TEMPLATES = {lang: text.strip().split("\n") for lang, text in TEMPLATES.items()}
LANGUAGES = list(TEMPLATES)


def is_held(text):
    return zlib.crc32(text.encode()) % 8 == 0


def sentence(lang, random, held=False, template=None):
    """Returns a random sentence. A template with fewer than two slots gives no held-out sentence.

    Otherwise the training could miss some words completely."""
    while True:
        chosen = template or random.choice(TEMPLATES[lang])
        text = re.sub(r"\{(\w+)\}", lambda slot: random.choice(SLOTS[lang][slot[1]]), chosen)
        if chosen.count("{") < 2:
            if not held:
                return text
        elif is_held(text) == held:
            return text
