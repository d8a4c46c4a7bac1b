// A copy button copies the text of the area after it. Printing opens what is folded.
document.addEventListener('click', async function (event) {
  const button = event.target.closest('button');
  const area = button && button.nextElementSibling;
  if (!area || area.tagName !== 'TEXTAREA') return;
  area.hidden = false;
  area.select();
  const name = button.dataset.name || button.textContent;
  button.dataset.name = name;
  let done = document.execCommand('copy'); // old, and allowed in pages that are files
  if (!done) {
    button.textContent = 'select and copy';
    try {
      await navigator.clipboard.writeText(area.value);
      done = true;
    } catch (refused) { } // the text stays to be copied by hand
  }
  area.hidden = done;
  if (done) button.textContent = 'copied';
  setTimeout(function () { button.textContent = name; }, 1500);
});
window.addEventListener('beforeprint', function () {
  document.querySelectorAll('details').forEach(function (d) { d.open = true; });
});
