export declare const built: (name: string) => Promise<string>
