// Names and stops for keyboards and screen readers, where the theme, the gallery and notebooks' outputs leave them out.
document.addEventListener("DOMContentLoaded", () => {
  for (const summary of document.querySelectorAll("summary")) {
    if (summary.textContent.trim()) summary.removeAttribute("aria-label");
    else summary.setAttribute("aria-label", "Pages below this one");
  }
  for (const button of document.querySelectorAll("button.search-button-field")) {
    button.setAttribute("aria-label", button.textContent.replace(/\s+/g, " ").trim());
  }
  for (const link of document.querySelectorAll(".sphx-glr-thumbcontainer a.internal")) {
    link.setAttribute("aria-label", link.textContent.trim());
  }
  reachScrolled();
});

// What is wider than the page scrolls, and is reached by the keyboard; formulas have their width when MathJax has set them.
function reachScrolled() {
  for (const box of document.querySelectorAll(".cell_output .scroll, div.equation, div.math, mjx-container")) {
    if (box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX !== "visible") {
      box.tabIndex = 0;
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", box.matches(".scroll") ? "table" : "formula");
    }
  }
}
window.addEventListener("load", () => (window.MathJax?.startup?.promise ?? Promise.resolve()).then(reachScrolled));
