// What the lists of runs do: two runs of a suite are chosen to be compared, and arrow keys go from run to run.
"use strict";
(() => {
  const form = document.getElementById("choice");
  const links = [...document.querySelectorAll("a.to-run")];

  document.addEventListener("keydown", (event) => {
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    const place = links.indexOf(event.target);
    if (place < 0 || !(event.key in steps)) return;
    event.preventDefault();
    links[Math.min(Math.max(place + steps[event.key], 0), links.length - 1)].focus();
  });

  if (!form) return;
  const button = form.querySelector("button");
  const said = document.getElementById("chosen");
  const boxes = [...form.querySelectorAll("input[type=checkbox]")];
  const suites = (box) => box.dataset.suites.split(" ");

  // A box that would make a comparison of nothing cannot be ticked.
  function update() {
    const ticked = boxes.filter((box) => box.checked);
    for (const box of boxes) {
      const fits = ticked.every((other) => suites(other).some((name) => suites(box).includes(name)));
      box.disabled = !box.checked && (ticked.length >= 2 || !fits);
    }
    button.disabled = ticked.length !== 2;
    said.textContent = ["Tick two runs of a suite to compare them.", "Tick one more run of that suite.", "The one that ran first is what the other is compared with."][ticked.length];
  }

  form.addEventListener("change", update);
  addEventListener("pageshow", update);
  update();
})();
