// What makes the pages better where JavaScript runs; each works without it.
"use strict";

// A form whose fields change asks again by itself.
document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-live]");
  if (form) form.requestSubmit();
});

// A key that is held while a page opens is not typed into the field that has the focus.
let held = true;
document.addEventListener("keyup", () => { held = false; });

// A key goes to the field that names it, or does what the button that names it does, unless somebody
// types.
document.addEventListener("keydown", (event) => {
  if (event.repeat && held) event.preventDefault();
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
  if (event.target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]")) return;
  const named = document.querySelector(`[aria-keyshortcuts="${CSS.escape(event.key.toLowerCase())}"]`);
  if (named) {
    event.preventDefault();
    if (named.matches("input")) named.focus();
    else named.click();
  }
});

// A form that was sent is not sent a second time by a second click. One that downloads a file
// leaves the page where it is, and may be sent again.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post" || "download" in form.dataset) return;
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "1";
  window.addEventListener("pageshow", () => delete form.dataset.sent, { once: true });
});

// An address that names a place in a folded part unfolds it.
function unfold() {
  const place = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folded = place && place.closest("details");
  for (let part = folded; part; part = part.parentElement.closest("details")) part.open = true;
  if (folded) {
    folded.scrollIntoView();
    place.focus();
  }
}
addEventListener("hashchange", unfold);
addEventListener("DOMContentLoaded", unfold);

// What is copied beside each text that people look for elsewhere, where the browser lets pages copy.
addEventListener("DOMContentLoaded", () => {
  if (!navigator.clipboard) return;
  for (const part of document.querySelectorAll("[data-copy] .copy")) {
    const button = document.createElement("button");
    const { copy, copied } = part.closest("[data-copy]").dataset;
    Object.assign(button, { type: "button", className: "copier", textContent: copy });
    button.setAttribute("aria-label", copy + " " + part.textContent);
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(part.textContent);
      button.textContent = copied;
    });
    part.after(button);
  }
});

// A button that prints the page is there where it works.
addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll("[data-print]")) {
    button.hidden = false;
    button.addEventListener("click", () => print());
  }
});
