// Refreshes the page every five seconds. Without this script the page is whole, and the browser loads it every ten.
// Screen readers speak the status region: it gets a text only if the content has changed, or is old.
"use strict";

const everyMs = 5000;
const age = document.getElementById("age");
const state = document.getElementById("state");

function say(text) {
  if (state.textContent !== text) state.textContent = text;
}

// Of the content, without ages that change each minute.
function textOf(main) {
  const copy = main.cloneNode(true);
  for (const time of copy.querySelectorAll("time")) time.remove();
  return copy.textContent;
}

function timeOf(now) {
  return `${now.toISOString().slice(0, 19)}Z`;
}

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
    button.setAttribute("aria-label", `copy: ${command.textContent}`);
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(command.textContent);
      button.textContent = "copied";
      say("Copied.");
    });
    command.after(" ", button);
  }
}

let shown = document.querySelector("main").innerHTML;
let text = textOf(document.querySelector("main"));

function show(main, next) {
  const nextText = textOf(next);
  if (nextText !== text) {
    const verdict = next.querySelector(".verdict")?.textContent ?? "";
    say(`Changed at ${timeOf(new Date())}. ${verdict}`.trim());
  }
  shown = next.innerHTML;
  text = nextText;
  replace(main, next);
}

async function refresh() {
  const main = document.querySelector("main");
  if (document.hidden || isBeingUsed(main)) return;
  try {
    const answer = await fetch(location.href, { cache: "no-cache", signal: AbortSignal.timeout(4000) });
    const html = await answer.text();
    const next = new DOMParser().parseFromString(html, "text/html").querySelector("main");
    if (!next) throw new Error(`answer ${answer.status}`);
    if (state.classList.contains("old")) say("The server answers again.");
    state.classList.remove("old");
    if (next.innerHTML !== shown) show(main, next);
    age.textContent = `as of ${timeOf(new Date())}`;
  } catch (error) {
    say("OLD: the server has not answered since then.");
    state.classList.add("old");
  }
}

offerCopies();
setInterval(refresh, everyMs);
document.addEventListener("visibilitychange", refresh);
