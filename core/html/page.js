// Shows the page anew every five seconds. Without it the page is whole, and the browser loads it every ten.
"use strict";

const everyMs = 5000;
const state = document.getElementById("state");

function isBeingUsed(main) {
  const selection = document.getSelection();
  return selection && !selection.isCollapsed && main.contains(selection.anchorNode);
}

// A link that has the focus keeps it.
function replace(main, next) {
  const focused = document.activeElement?.getAttribute("href");
  main.replaceChildren(...next.childNodes);
  if (focused) main.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  offerCopies();
}

function offerCopies() {
  if (!navigator.clipboard) return; // the browser gives it to https and localhost alone
  for (const command of document.querySelectorAll("code.command")) {
    const button = document.createElement("button");
    button.textContent = "copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(command.textContent);
      button.textContent = "copied";
    });
    command.after(" ", button);
  }
}

let shown = document.querySelector("main").innerHTML;

async function refresh() {
  const main = document.querySelector("main");
  if (document.hidden || isBeingUsed(main)) return;
  try {
    const answer = await fetch(location.href, { cache: "no-cache", signal: AbortSignal.timeout(4000) });
    const text = await answer.text();
    const next = new DOMParser().parseFromString(text, "text/html").querySelector("main");
    if (!next) throw new Error(`answer ${answer.status}`);
    if (next.innerHTML !== shown) {
      shown = next.innerHTML;
      replace(main, next);
    }
    state.textContent = `as of ${new Date().toISOString().slice(0, 19)}Z`;
    state.classList.remove("old");
  } catch (error) {
    state.textContent = `OLD: nobody has answered since then (${state.dataset.since ?? state.textContent})`;
    state.classList.add("old");
    return;
  }
  state.dataset.since = state.textContent;
}

state.dataset.since = state.textContent;
offerCopies();
setInterval(refresh, everyMs);
document.addEventListener("visibilitychange", refresh);
