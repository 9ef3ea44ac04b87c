// Names for screen readers where the theme and the gallery leave them out.
document.addEventListener("DOMContentLoaded", () => {
  for (const summary of document.querySelectorAll("summary")) {
    if (!summary.textContent.trim()) summary.setAttribute("aria-label", "Pages below this one");
  }
  for (const button of document.querySelectorAll("button.search-button-field")) {
    button.setAttribute("aria-label", button.textContent.replace(/\s+/g, " ").trim());
  }
  for (const link of document.querySelectorAll(".sphx-glr-thumbcontainer a.internal")) {
    link.setAttribute("aria-label", link.textContent.trim());
  }
});
