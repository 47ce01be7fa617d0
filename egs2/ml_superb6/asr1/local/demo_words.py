"""The demo corpus's words: one small open vocabulary a language, in the language's own script."""

from dataclasses import dataclass

__all__ = ["LANGUAGES", "DemoLanguage"]


@dataclass(frozen=True)
class DemoLanguage:
    """A language of the demo.

    Attributes:
        dataset: the corpus of ML-SUPERB under which it stands.
        voice: espeak-ng's name of the language.
        joiner: what stands between two words.
        words: the vocabulary.
    """

    dataset: str
    voice: str
    joiner: str
    words: tuple[str, ...]


LANGUAGES = {
    "eng": DemoLanguage(
        "voxforge",
        "en",
        " ",
        tuple(
            "apple river house green little walks sings bird stone water morning seven yellow "
            "window garden finds sleeps under horse bread winter music paper blue night dances "
            "slowly mother silver forest cold opens happy island train bridge".split()
        ),
    ),
    "deu": DemoLanguage(
        "voxforge",
        "de",
        " ",
        tuple(
            "Apfel Fluss Haus grün klein geht singt Vogel Stein Wasser Morgen sieben gelb Fenster "
            "Garten findet schläft unter Pferd Brot Winter Musik Papier blau Nacht tanzt langsam "
            "Mutter Silber Wald kalt öffnet fröhlich Insel Zug Brücke".split()
        ),
    ),
    "heb": DemoLanguage(
        "fleurs",
        "he",
        " ",
        tuple(
            "תפוח נהר בית ירוק קטן הולך שר ציפור אבן מים בוקר שבע צהוב חלון גינה מוצא ישן תחת סוס "
            "לחם חורף מוזיקה נייר כחול לילה רוקד לאט אמא כסף יער קר פותח שמח אי רכבת גשר".split()
        ),
    ),
    # Kana only: espeak-ng reads kana, but spells most kanji out as 'Chinese letter'.
    "jpn": DemoLanguage(
        "fleurs",
        "ja",
        "",
        tuple(
            "りんご かわ いえ みどり ちいさい あるく うたう とり いし みず "
            "あさ なな きいろ まど にわ みつける ねむる した うま ぱん "
            "ふゆ おんがく かみ あお よる おどる ゆっくり はは ぎん もり "
            "さむい あける うれしい しま でんしゃ はし".split()
        ),
    ),
    "rus": DemoLanguage(
        "fleurs",
        "ru",
        " ",
        tuple(
            "яблоко река дом зелёный маленький идёт поёт птица камень вода утро семь жёлтый окно "
            "сад находит спит под лошадь хлеб зима музыка бумага синий ночь танцует медленно мать "
            "серебро лес холодный открывает весёлый остров поезд мост".split()
        ),
    ),
    "spa": DemoLanguage(
        "fleurs",
        "es",
        " ",
        tuple(
            "manzana río casa verde pequeño camina canta pájaro piedra agua mañana siete amarillo "
            "ventana jardín busca duerme debajo caballo pan invierno música papel azul noche baila "
            "lento madre plata bosque frío abre feliz isla tren puente".split()
        ),
    ),
}
