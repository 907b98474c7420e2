// The theme button. It follows the system until told otherwise; what was chosen is kept where the browser lets a file keep anything.
"use strict";
(() => {
  const button = document.getElementById("theme");
  const root = document.documentElement;
  const words = ["auto", "light", "dark"];
  let stored = null;
  try {
    stored = localStorage.getItem("yb-eval-theme");
  } catch {
    stored = null;
  }
  const apply = (word) => {
    if (word === "auto") delete root.dataset.theme;
    else root.dataset.theme = word;
    button.querySelector("span").textContent = word;
  };
  let current = words.includes(stored) ? stored : "auto";
  apply(current);
  button.hidden = false;
  button.addEventListener("click", () => {
    current = words[(words.indexOf(current) + 1) % words.length];
    apply(current);
    try {
      localStorage.setItem("yb-eval-theme", current);
    } catch {
      // Not kept, and no harm done.
    }
  });
})();
