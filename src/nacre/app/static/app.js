// What pages do beside links and forms: filter rows, keep slider and number together, count ticks,
// take a dropped file, and say when something went wrong. Everything else works without it.
"use strict";

const every = (selector, within = document) => [...within.querySelectorAll(selector)];

function count() {
  const said = document.querySelector("[data-waiting]");
  const ticks = every('input[name="public"][form="review"]');
  if (!said || !ticks.length) return;
  const open = every("#columns tr.open").length; // being changed: its tick is in its own form
  const left = ticks.filter((tick) => !tick.checked).length + open;
  const all = ticks.length + open;
  said.textContent = left
    ? `${left} of ${all} columns still to be looked at`
    : `All ${all} columns are looked at`;
}

function show() {
  const field = document.querySelector(".filter[data-filter]");
  const only = document.querySelector("[data-only]");
  const selector = field ? field.dataset.filter : only && only.dataset.only;
  if (!selector) return;
  const words = field ? field.value.trim().toLowerCase() : "";
  for (const row of every(selector)) {
    const tick = row.querySelector('input[name="public"]');
    const name = (row.querySelector("td") || row).textContent.toLowerCase();
    row.hidden = !name.includes(words) || Boolean(only && only.checked && tick && tick.checked);
  }
}

function tell(text) {
  const toast = document.getElementById("toast");
  toast.textContent = text;
  toast.hidden = false;
  clearTimeout(tell.timer);
  tell.timer = setTimeout(() => { toast.hidden = true; }, 6000);
}

document.addEventListener("input", (event) => {
  const target = event.target;
  if (target.matches("[data-stops]")) {
    document.getElementById(target.dataset.for).value = target.dataset.stops.split(",")[target.value] * 1;
  } else if (target.id === "epsilon") {
    const slider = document.querySelector('[data-for="epsilon"]');
    const gaps = slider.dataset.stops.split(",").map((stop) => Math.abs(stop - target.value));
    slider.value = gaps.indexOf(Math.min(...gaps));
  }
  if (target.matches(".filter")) show();
}, true);

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-only]")) show();
  if (event.target.matches('input[name="public"][form="review"]')) count();
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.sure && !window.confirm(form.dataset.sure)) { event.preventDefault(); return; }
  if (form.matches("[data-busy], [data-upload]")) {
    // After the browser has read which button it was.
    setTimeout(() => every("button", form).forEach((button) => {
      if (button === event.submitter) button.setAttribute("aria-busy", "true");
      button.disabled = true;
    }), 0);
  }
});

// A page that comes back from the browser's memory has its buttons still disabled.
window.addEventListener("pageshow", (event) => { if (event.persisted) window.location.reload(); });

for (const form of every("[data-upload]")) {
  const field = form.querySelector('input[type="file"]');
  form.addEventListener("dragover", (event) => { event.preventDefault(); form.classList.add("over"); });
  form.addEventListener("dragleave", () => form.classList.remove("over"));
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    form.classList.remove("over");
    if (event.dataTransfer.files.length) field.files = event.dataTransfer.files;
  });
}

for (const moment of ["htmx:afterSwap", "htmx:afterSettle"]) document.addEventListener(moment, count);
document.addEventListener("htmx:responseError", () => tell("That did not work. Load the page again."));
document.addEventListener("htmx:sendError", () => tell("The server does not answer. Is it still running?"));
count();
