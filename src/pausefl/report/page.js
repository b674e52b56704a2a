// A browser opens no address of data alone, so each figure becomes a file of its own.
(async () => {
  for (const image of document.querySelectorAll('a > img')) {
    image.src = URL.createObjectURL(await (await fetch(image.src)).blob());
    image.parentElement.href = image.src;
  }
})();
// On a narrow screen the contents would fill it.
document.querySelector('nav details').open = innerWidth > 1000;
