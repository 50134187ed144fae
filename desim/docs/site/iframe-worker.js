// Browsers start no worker from a file, so the search of a site that is opened without a server
// runs its worker's script in a hidden frame.
if (location.protocol === "file:") {
  // As between threads: later, and a copy.
  const deliver = (message, to) => {
    const data = structuredClone(message)
    setTimeout(() => to.onmessage?.({ data }))
  }

  window.Worker = class {
    constructor(url) {
      this.waiting = []
      this.frame = document.body.appendChild(document.createElement("iframe"))
      this.frame.hidden = true
      const inner = this.frame.contentWindow
      inner.postMessage = message => deliver(message, this)
      const script = inner.document.createElement("script")
      script.src = url
      script.onload = () => {
        this.loaded = true
        this.waiting.splice(0).forEach(data => this.postMessage(data))
      }
      script.onerror = event => this.onerror?.(event)
      inner.document.body.append(script)
    }

    postMessage(data) {
      if (this.loaded) deliver(data, this.frame.contentWindow)
      else this.waiting.push(data)
    }

    terminate() {
      this.frame.remove()
    }
  }
}
