// A copy button copies the text of the area after it. Printing opens what is folded.
document.addEventListener('click', async function (event) {
  const button = event.target.closest('button');
  const area = button && button.nextElementSibling;
  if (!area || area.tagName !== 'TEXTAREA') return;
  let done = true;
  try {
    await navigator.clipboard.writeText(area.value);
  } catch (refused) { // by browsers that keep the clipboard from files
    area.hidden = false;
    area.select();
    done = document.execCommand('copy');
    area.hidden = done; // otherwise the text stays to be copied by hand
  }
  const name = button.textContent;
  button.textContent = done ? 'copied' : 'select and copy';
  setTimeout(function () { button.textContent = name; }, 1500);
});
window.addEventListener('beforeprint', function () {
  document.querySelectorAll('details').forEach(function (d) { d.open = true; });
});
