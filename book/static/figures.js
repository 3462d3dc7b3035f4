// Each figure can be taken away as a picture: SVG as it is drawn, PNG at twice its size on white.
//
// What the browser shows takes the color of the page's text, and may be one of two layouts of the same drawing. What is
// taken away is always the wide one with black ink. Without a script the figure's data can still be downloaded.
(() => {
  "use strict";
  const INK = "#000000";
  const PNG_SCALE = 2;

  document.querySelectorAll("figure.sense7-figure").forEach((figure) => {
    const svg = figure.querySelector("svg");
    const data = figure.querySelector("figcaption a[download$='.csv']");
    if (!svg || !data) return;
    const name = data.download.replace(/\.csv$/, "");
    const buttons = [
      button("SVG", name, () => save(new Blob([picture(svg)], { type: "image/svg+xml" }), `${name}.svg`)),
      button("PNG", name, async () => save(await painted(svg), `${name}.png`)),
    ];
    data.after(...buttons.flatMap((each) => [" ", each]));
  });

  function button(kind, name, take) {
    const element = Object.assign(document.createElement("button"), { type: "button", className: "sense7-take" });
    element.textContent = kind;
    element.setAttribute("aria-label", `${kind} of the figure ${name}`);
    element.addEventListener("click", take);
    return element;
  }

  // A drawing that stands by itself: its ink has a color, and it has neither the page's classes nor its layout.
  function picture(svg) {
    const copy = svg.cloneNode(true);
    copy.removeAttribute("class");
    copy.removeAttribute("style");
    copy.querySelectorAll("[style*=currentColor]").forEach((each) => {
      each.setAttribute("style", each.getAttribute("style").replaceAll("currentColor", INK));
    });
    return new XMLSerializer().serializeToString(copy);
  }

  async function painted(svg) {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture(svg))}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.ceil(PNG_SCALE * image.width);
    canvas.height = Math.ceil(PNG_SCALE * image.height);
    const paper = canvas.getContext("2d");
    paper.fillStyle = "#ffffff";
    paper.fillRect(0, 0, canvas.width, canvas.height);
    paper.drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  }

  function save(blob, name) {
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }
})();
