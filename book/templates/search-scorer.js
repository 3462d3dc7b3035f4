// Sphinx's scores, and what its pages are about (book/keywords.yml, which the page of the search holds): a page comes first
// of which a phrase has all words of the search.
const SCORER_ASIDE = "book/cite"; // titles of all works cited: it holds many words, and is about few of them

var Scorer = {
  score: ([page, , anchor, , score]) => {
    if (anchor) return score;
    const asked = scorerWords(new URLSearchParams(document.location.search).get("q") ?? "");
    const phrases = (window.sense7Keywords?.[page] ?? []).map(scorerWords);
    const shares = phrases.map((phrase) => {
      const shared = asked.filter((word) => phrase.some((other) => scorerSame(word, other)));
      return shared.length / Math.max(asked.length, 1) + (shared.length === phrase.length ? 0.5 : 0);
    });
    const best = Math.max(0, ...shares);
    if (page === SCORER_ASIDE && best < 1) return score - 100;
    return score + (best >= 1 ? 100 * best : 20 * best);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

// Words without what only makes a question of them.
function scorerWords(text) {
  const silent = /^(a|an|and|are|can|do|does|for|how|i|in|is|it|many|my|of|on|or|the|there|to|was|were|what|when|where|which|who|whose|why|with)$/;
  const words = text.toLowerCase().replace(/['’]s\b/g, "").match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.filter((word) => !silent.test(word));
}

// rate, rates, rated and rating are one word here.
function scorerSame(word, other) {
  const length = Math.max(4, Math.min(word.length, other.length) - 2);
  return word.slice(0, length) === other.slice(0, length);
}
