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
  for (const box of document.querySelectorAll(".cell_output .scroll")) {
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", "table");
  }
});
