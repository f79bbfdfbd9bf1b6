// Finds the sections that have all words of the query, whatever their case and accents, in the array
// `sections` of the index; if there is none, those that have their beginnings (liberar: libere). What is
// found in a heading comes first.
"use strict";

const fold = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

function find(words) {
  return sections
    .map((s) => {
      const heading = fold(s.Page + " " + s.Heading), text = fold(s.Text);
      let rank = 0;
      for (const word of words) {
        const times = text.split(word).length - 1;
        if (!times && !heading.includes(word)) return null;
        rank += Math.min(times, 5) + (heading.includes(word) ? 10 : 0);
      }
      return { s, rank };
    })
    .filter(Boolean)
    .sort((a, b) => b.rank - a.rank)
    .slice(0, 50);
}

// The text around the first word. A letter is one letter when it is folded, too.
function around(text, word) {
  const from = Math.max(0, Array.from(text, fold).join("").indexOf(word) - 80);
  return (from ? "…" : "") + text.slice(from, from + 240) + (text.length > from + 240 ? "…" : "");
}

const query = new URLSearchParams(location.search).get("q") || "";
document.querySelector("input[name=q]").value = query;
let words = fold(query).split(/\s+/).filter(Boolean);
let found = words.length ? find(words) : [];
if (words.length && !found.length) {
  words = words.map((w) => (w.length > 5 ? w.slice(0, -2) : w));
  found = find(words);
}
const count = document.getElementById("count");
if (words.length) count.textContent = found.length ? count.dataset.many + " " + found.length : count.dataset.none;
for (const { s } of found) {
  const item = document.createElement("li"), link = document.createElement("a"), text = document.createElement("p");
  link.href = s.File;
  link.textContent = s.Page + (s.Heading ? " › " + s.Heading : "");
  text.textContent = around(s.Text, words[0]);
  item.append(link, text);
  document.getElementById("found").append(item);
}
